module github.com/idmint/idmint/bench

go 1.26.0

// Not published yet: the checkout is the only source.
replace github.com/idmint/idmint => ../

require (
	github.com/bwmarrin/snowflake v0.3.0
	github.com/gofrs/uuid/v5 v5.5.1
	github.com/google/uuid v1.6.0
	github.com/idmint/idmint v0.0.0
	github.com/muyo/sno v1.2.1
	github.com/oklog/ulid/v2 v2.1.2
	github.com/rs/xid v1.6.0
	github.com/sony/sonyflake/v2 v2.2.0
	golang.org/x/perf v0.0.0-20260908200009-22c9c6c9d4da
)

require (
	github.com/aclements/go-moremath v0.0.0-20210112150236-f10218a38794 // indirect
	github.com/mattn/go-sqlite3 v1.14.52 // indirect
	golang.org/x/sys v0.48.0 // indirect
)

tool golang.org/x/perf/cmd/benchstat
