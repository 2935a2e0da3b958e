module github.com/idmint/idmint/entid

go 1.26.0

// Not published yet: the checkout is the only source.
replace github.com/idmint/idmint => ../

require (
	entgo.io/ent v0.14.5
	github.com/idmint/idmint v0.0.0
)

require github.com/google/uuid v1.6.0 // indirect
