// Package zookeeper_test has tests of package zookeeper that break servers. It starts servers for
// the package's own tests, and runs these.
package zookeeper_test

import (
	"testing"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/integration_test/launchlog/enginetest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

func TestPackage(t *testing.T) { enginetest.Run(t, databases.ZooKeeper, "zookeeper", 20) }

// Steps beside bare transactions of the same servers.
func BenchmarkPackage(b *testing.B) { enginetest.Bench(b, databases.ZooKeeper, "zookeeper") }
