// Package bench measures minting and text conversion against other libraries. It is a separate
// module, so that none of these libraries becomes a dependency of idmint's users.
//
// A figure is meaningful only compared with others of the same run. Each round therefore runs every
// benchmark once, in one process, and the report divides only figures of the same round. An op is
// an ID, and serial means GOMAXPROCS=1. Parallel means two goroutines on two processors that share
// a generator, so that a perfect generator takes half of the serial time per ID.
package bench
