package memory_test

import (
	"testing"
	"testing/synctest"
	"time"

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

func TestYear(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { storetest.Year(t, memory.New(nil), time.Sleep) })
}
