package kvtest_test

import (
	"testing"

	"github.com/idmint/idmint/launchlog/internal/kv"
	"github.com/idmint/idmint/launchlog/internal/kv/kvtest"
)

func TestMemory(t *testing.T) {
	kvtest.Run(t, func(*testing.T) func() kv.Engine {
		m := kvtest.NewMemory()
		return func() kv.Engine { return m }
	})
}
