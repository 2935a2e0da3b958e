package main

import (
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/launchlog"
)

// A launch's history is told in the order of time.
func TestHistory(t *testing.T) {
	at := func(seconds int) time.Time { return time.Unix(int64(seconds), 0) }
	var told []string
	for _, h := range history([]launchlog.Event{
		{Kind: "started", Actor: "ann", At: at(1)}, {Kind: "ended", Actor: "bob", At: at(3)},
	}, []launchlog.Claim{
		{Generator: 0, ClaimedAt: at(1)},
		{Generator: 2, ClaimedAt: at(5)},
		{Generator: 1, ClaimedAt: at(2)},
	}) {
		told = append(told, strings.Join(strings.Fields(h.what)[:2], " "))
	}
	const want = "started by, generator 0, generator 1, ended by, generator 2"
	if got := strings.Join(told, ", "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
