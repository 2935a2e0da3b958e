// Package schemes describes each ID scheme once, in a file of its own. SQL, columns, codecs, forms,
// schemas, help and the pages are made of its [Facts].
//
// It says what an ID is, too: which schemes it fits, its parts, and the time that it carries. A
// [Kind] knows the forms of a scheme. [Find] reads a text by all kinds, and ranks what fits.
package schemes
