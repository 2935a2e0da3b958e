module app

go 1.25.0

require (
	github.com/idmint/idmint v0.0.0
	github.com/stretchr/testify v0.0.0
)

replace (
	github.com/idmint/idmint => ../../
	github.com/stretchr/testify => ./testify
)
