package postgres_test

import (
	"testing"

	"github.com/idmint/idmint/integration_test/launchlog/serversuite"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/storetest"
)

// The statements that Open's mode plans anew each time, and those that cache_statement keeps, by 4
// and by 16 connections.
var benchModes = []string{
	"default_query_exec_mode=exec&pool_max_conns=4",
	"default_query_exec_mode=exec&pool_max_conns=16",
	"default_query_exec_mode=cache_statement&pool_max_conns=4",
	"default_query_exec_mode=cache_statement&pool_max_conns=16",
}

func BenchmarkStartLaunch(b *testing.B) { bench(b, storetest.BenchmarkStart) }

func BenchmarkClaim(b *testing.B) { bench(b, storetest.BenchmarkClaim) }

func bench(b *testing.B, run func(*testing.B, launchlog.Store)) {
	for _, mode := range benchModes {
		b.Run(mode, func(b *testing.B) {
			run(b, suite.Store(b, serversuite.With(b, suite.Database(b), mode)))
		})
	}
}
