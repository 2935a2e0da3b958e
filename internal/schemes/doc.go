// Package schemes describes each ID scheme once, in one file per scheme. SQL functions, columns,
// codecs, forms, schemas, help texts and documents are generated from its [Facts].
//
// It also analyzes IDs: which schemes an ID fits, its parts, and the time that it carries. A [Kind]
// knows the forms of a scheme, and [Find] parses a text with all kinds, and ranks the matches.
package schemes
