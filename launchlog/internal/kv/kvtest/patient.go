package kvtest

import (
	"context"
	"errors"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/kv"
)

// patient is an engine whose calls continue if a busy node has not answered in time. A commit in
// doubt is sent again, and then the rows show whether it was carried out.
type patient struct{ kv.Engine }

func passes(err error) bool {
	var attempt *launchlog.AttemptError
	return errors.As(err, &attempt)
}

func (p patient) Commit(ctx context.Context, part string, changes ...kv.Change) (bool, error) {
	done, err := p.Engine.Commit(ctx, part, changes...)
	if !passes(err) {
		return done, err
	}
	for passes(err) {
		done, err = p.Engine.Commit(ctx, part, changes...)
	}
	if done || err != nil {
		return done, err
	}
	return kv.Settled(ctx, p, part, changes)
}

func patiently[T any](call func() (T, error)) (v T, err error) {
	v, err = call()
	for passes(err) {
		v, err = call()
	}
	return v, err
}

func (p patient) Read(ctx context.Context, part string, names ...string) ([]kv.Row, error) {
	return patiently(func() ([]kv.Row, error) { return p.Engine.Read(ctx, part, names...) })
}

func (p patient) List(
	ctx context.Context, part, after, before string, limit int,
) ([]kv.Row, error) {
	return patiently(func() ([]kv.Row, error) {
		return p.Engine.List(ctx, part, after, before, limit)
	})
}

func (p patient) Each(ctx context.Context, parts []string, name string) ([]kv.Row, error) {
	return patiently(func() ([]kv.Row, error) { return p.Engine.Each(ctx, parts, name) })
}
