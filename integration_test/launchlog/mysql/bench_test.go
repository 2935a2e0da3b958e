package mysql_test

import (
	"testing"

	"github.com/idmint/idmint/launchlog/storetest"
)

func BenchmarkStartLaunch(b *testing.B) {
	storetest.BenchmarkStart(b, suite.Store(b, suite.Database(b)))
}

func BenchmarkClaim(b *testing.B) { storetest.BenchmarkClaim(b, suite.Store(b, suite.Database(b))) }
