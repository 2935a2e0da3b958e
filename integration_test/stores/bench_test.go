package stores_test

import (
	"testing"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/storetest"
)

// benchModes are the statements that Open's mode plans anew each time, and those that
// cache_statement keeps, by 4 and by 16 connections.
var benchModes = []string{
	"default_query_exec_mode=exec&pool_max_conns=4",
	"default_query_exec_mode=exec&pool_max_conns=16",
	"default_query_exec_mode=cache_statement&pool_max_conns=4",
	"default_query_exec_mode=cache_statement&pool_max_conns=16",
}

func BenchmarkPostgres(b *testing.B) {
	for _, bench := range []struct {
		name string
		run  func(*testing.B, launchlog.Store)
	}{{"StartLaunch", storetest.BenchmarkStart}, {"Claim", storetest.BenchmarkClaim}} {
		for _, mode := range benchModes {
			b.Run(bench.name+"/"+mode, func(b *testing.B) {
				bench.run(b, open(b, with(b, postgresServer.database(b), mode)))
			})
		}
	}
}

func BenchmarkMySQL(b *testing.B) {
	b.Run("StartLaunch", func(b *testing.B) {
		storetest.BenchmarkStart(b, open(b, mysqlServer.database(b)))
	})
	b.Run("Claim", func(b *testing.B) {
		storetest.BenchmarkClaim(b, open(b, mysqlServer.database(b)))
	})
}
