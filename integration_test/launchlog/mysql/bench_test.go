package mysql_test

import (
	"testing"

	"github.com/idmint/idmint/launchlog/storetest"
)

func BenchmarkStartLaunch(b *testing.B) { storetest.BenchmarkStart(b, open(b, newDatabase(b))) }

func BenchmarkClaim(b *testing.B) { storetest.BenchmarkClaim(b, open(b, newDatabase(b))) }
