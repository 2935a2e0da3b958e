package memory_test

import (
	"testing"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/memory"
	"github.com/idmint/idmint/launchlog/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) launchlog.Store {
		t.Parallel()
		return memory.New(nil)
	}, nil)
}
