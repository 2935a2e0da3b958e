module github.com/idmint/idmint/cqlid

go 1.26.0

// Not published yet: the checkout is the only source.
replace github.com/idmint/idmint => ../

require (
	github.com/apache/cassandra-gocql-driver/v2 v2.1.2
	github.com/idmint/idmint v0.0.0
)

require gopkg.in/inf.v0 v0.9.1 // indirect
