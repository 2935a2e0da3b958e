// Package schemes says what an ID is: which schemes it fits, its parts, and the time that it
// carries. The command line and package viewer show the same answers by it.
//
// A [Kind] knows the forms of a scheme and the parts of its layout. [Find] reads a text by all
// kinds, and ranks what fits.
package schemes
