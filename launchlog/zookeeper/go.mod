module github.com/idmint/idmint/launchlog/zookeeper

go 1.25.0

// Not published yet: the checkout is the only source.
replace github.com/idmint/idmint => ../../

require (
	github.com/go-zookeeper/zk v1.0.4
	github.com/idmint/idmint v0.0.0
	go.uber.org/goleak v1.3.0
)
