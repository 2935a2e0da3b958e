package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/idmint/idmint/launchlog"
)

// An endedError is about a key whose launch has ended. Its number would start no app.
type endedError struct{ launch launchlog.Launch }

func (e *endedError) Error() string {
	return fmt.Sprintf("launch %d, of this key, has ended as %s: its apps get no generator numbers; "+
		"a new deployment needs a new key", e.launch.ID, e.launch.Outcome)
}

func (e *endedError) Unwrap() error { return launchlog.ErrEnded }

// supersede ends the earlier launches of the service in the environment. Later ones stay, so an old
// pipeline that is run again ends no newer deployment.
func (a *app) supersede(ctx context.Context, log *launchlog.Log, by launchlog.Launch) error {
	former, err := log.List(ctx, launchlog.Filter{
		Service: by.Service, Environment: by.Environment, Running: true, Before: by.ID,
		Limit: launchlog.MaxLaunch,
	})
	if err != nil {
		return err
	}
	for _, l := range former {
		_, err := log.End(ctx, l.ID, launchlog.Ending{
			Outcome: launchlog.Superseded, Actor: by.Initiator,
			Reason: fmt.Sprintf("launch %d took its place", by.ID),
		})
		var ended *launchlog.ConflictError
		if errors.As(err, &ended) { // by somebody else, just now
			continue
		}
		if err != nil {
			return err
		}
		a.warn("ended launch %d as superseded", l.ID)
	}
	return nil
}
