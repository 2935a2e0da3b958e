package storetest

import (
	"context"
	"errors"
	"testing"

	"github.com/idmint/idmint/launchlog"
)

// A Disk can be made to stand still.
type Disk interface {
	Stall(t *testing.T)   // what is to be made durable from now on is not
	Reached(t *testing.T) // waits until a commit stands still
	Resume(t *testing.T)
}

// Stalled has the disk below a store stand still while it commits. Every call ends with its context
// nevertheless: that of the commit may have been carried out and says so, those behind it have
// changed nothing. What was in doubt is settled by its key.
func Stalled(t *testing.T, store launchlog.Store, disk Disk) {
	t.Helper()
	l := newLog(t, store, nil)
	launch := start(t, l, "a")
	c := newCounter(t, l, "c")
	reserve(t, c, 0, 10, 1)

	calling, cancel := context.WithCancel(ctx)
	disk.Stall(t)
	first := begin(func() error { _, err := l.Start(calling, Request("b")); return err })
	disk.Reached(t)
	behind := []<-chan error{
		begin(func() error { _, err := l.Claim(calling, launch.ID); return err }),
		begin(func() error { _, err := l.Start(calling, Request("c")); return err }),
	}
	reading := begin(func() error { _, err := l.List(calling, launchlog.Filter{}); return err })
	cancel()
	wantUnresolved(t, "the start whose commit stands still", <-first, true)
	for _, waiting := range behind {
		wantUnresolved(t, "a call behind it", <-waiting, false)
	}
	if err := <-reading; err != nil { // a store may read meanwhile
		wantUnresolved(t, "reading", err, false)
	}
	disk.Resume(t)
	want(t, "the launch in doubt, by its key", start(t, l, "b").ID, 2)
	want(t, "the next one", start(t, l, "c").ID, 3)

	// Below the log: the context ends, and the token settles it.
	ref := launchlog.Ref{Namespace: "default", Launch: launch.ID}
	take := launchlog.Take{Ref: ref, Token: "t", Host: "h", PID: 1}
	calling, cancel = context.WithCancel(ctx)
	disk.Stall(t)
	claiming := begin(func() error { _, err := store.ClaimGenerator(calling, take); return err })
	disk.Reached(t)
	cancel()
	var again *launchlog.AttemptError
	err := <-claiming
	if !errors.As(err, &again) || !again.Ambiguous || !errors.Is(err, context.Canceled) {
		t.Errorf("a claim whose commit stands still: %v, want it ambiguous", err)
	}
	disk.Resume(t)
	claim, err := store.ClaimGenerator(ctx, take)
	wantError(t, err, nil)
	want(t, "the claim in doubt, by its token", claim.Generator, 0)
	next, err := l.Claim(ctx, launch.ID)
	wantError(t, err, nil)
	want(t, "the next one", next.Generator, 1)

	// Numbers in doubt are left unused.
	calling, cancel = context.WithCancel(ctx)
	disk.Stall(t)
	reserving := begin(func() error { _, err := c.Reserve(calling, 0, 5); return err })
	disk.Reached(t)
	cancel()
	wantUnresolved(t, "a range whose commit stands still", <-reserving, true)
	disk.Resume(t)
	if number, err := c.Reserve(ctx, 0, 1); err != nil || number != 11 && number != 16 {
		t.Errorf("after a range in doubt: %d, %v; want 11 or 16", number, err)
	}
}

func wantUnresolved(t *testing.T, what string, err error, uncertain bool) {
	t.Helper()
	var u *launchlog.UnresolvedError
	if !errors.As(err, &u) || u.Uncertain != uncertain {
		t.Errorf("%s: got %v, want an UnresolvedError whose Uncertain is %v", what, err, uncertain)
	}
}

func begin(call func() error) <-chan error {
	ended := make(chan error, 1)
	go func() { ended <- call() }()
	return ended
}
