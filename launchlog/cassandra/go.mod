module github.com/idmint/idmint/launchlog/cassandra

go 1.25.0

require (
	github.com/apache/cassandra-gocql-driver/v2 v2.1.2
	github.com/idmint/idmint v0.0.0
	go.uber.org/goleak v1.3.0
)

require gopkg.in/inf.v0 v0.9.1 // indirect

// Not published yet: the checkout is the only source.
replace github.com/idmint/idmint => ../..
