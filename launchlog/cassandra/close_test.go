package cassandra

import (
	"testing"
	"testing/synctest"
	"time"
)

// The driver's Close may never return. Ours does.
func TestCloseEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		within(closeTime, func() { time.Sleep(closeTime / 2) })
		if took := time.Since(began); took != closeTime/2 {
			t.Errorf("it took %v, and closing took %v", took, closeTime/2)
		}
		ever := make(chan struct{})
		began = time.Now()
		within(closeTime, func() { <-ever })
		if took := time.Since(began); took != closeTime {
			t.Errorf("where closing does not end it took %v, not %v", took, closeTime)
		}
		began = time.Now()
		(&Session{end: func() { <-ever }}).Close()
		if took := time.Since(began); took != closeTime {
			t.Errorf("a session whose closing does not end took %v, not %v", took, closeTime)
		}
		close(ever)
	})
}
