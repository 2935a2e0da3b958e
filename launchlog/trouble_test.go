package launchlog_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idmint/idmint/claims"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/memory"
)

var errAway = errors.New("connection refused")

// awayStore does not answer while it is away.
type awayStore struct {
	launchlog.Store
	away atomic.Bool
}

func (s *awayStore) fail() error {
	if s.away.Load() {
		return &launchlog.AttemptError{Err: errAway}
	}
	return nil
}

func (s *awayStore) LastNumber(ctx context.Context, c launchlog.CounterRef) (int64, error) {
	if err := s.fail(); err != nil {
		return 0, err
	}
	return s.Store.LastNumber(ctx, c)
}

func (s *awayStore) ReserveNumbers(
	ctx context.Context, c launchlog.CounterRef, floor, n int64,
) (int64, error) {
	if err := s.fail(); err != nil {
		return 0, err
	}
	return s.Store.ReserveNumbers(ctx, c, floor, n)
}

func (s *awayStore) ClaimGenerator(
	ctx context.Context, take launchlog.Claim,
) (launchlog.Claim, error) {
	if err := s.fail(); err != nil {
		return launchlog.Claim{}, err
	}
	return s.Store.ClaimGenerator(ctx, take)
}

func (s *awayStore) Counters(
	ctx context.Context, namespace, after string, limit int,
) ([]launchlog.CounterState, error) {
	if err := s.fail(); err != nil {
		return nil, err
	}
	return s.Store.Counters(ctx, namespace, after, limit)
}

// A generator that has less time than the log says what is in the way of the log.
func TestTrouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &awayStore{Store: memory.New(nil)}
		store.away.Store(true)
		log, err := launchlog.New(store, nil)
		if err != nil {
			t.Fatal(err)
		}
		counter, err := log.Counter("c")
		if err != nil {
			t.Fatal(err)
		}
		decimal, err := generator.NewDecimal(log.Generators(1))
		if err != nil {
			t.Fatal(err)
		}
		nodes, err := claims.Nodes(log, nil)
		if err != nil {
			t.Fatal(err)
		}
		lent, err := generator.NewTrace(nodes, nil)
		if err != nil {
			t.Fatal(err)
		}
		ceiling, err := generator.NewTrace(generator.Ceiling(7, counter, 2*time.Second), nil)
		if err != nil {
			t.Fatal(err)
		}
		for name, ready := range map[string]func(context.Context) error{
			"decimal": decimal.Ready, "claims": lent.Ready, "ceiling": ceiling.Ready,
		} {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			err := ready(ctx)
			cancel()
			if !errors.Is(err, errAway) || !errors.Is(err, context.DeadlineExceeded) ||
				strings.Contains(err.Error(), "Ready") {
				t.Errorf("%s: %v", name, err)
			}
		}
		store.away.Store(false)
		time.Sleep(2 * time.Minute) // of the test's clock: the requests have ended
		for _, ask := range []func() error{
			func() error { _, err := counter.Last(t.Context()); return err },
			func() error { // the store refuses it
				_, err := log.Claim(t.Context(), 77)
				if errors.Is(err, launchlog.ErrNotFound) {
					return nil
				}
				return errors.Join(errors.New("it was not refused"), err)
			},
		} {
			store.away.Store(true)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			_, _ = counter.Last(ctx)
			cancel()
			store.away.Store(false)
			if was := log.Trouble(); was == nil {
				t.Error("no trouble while the store is away")
			}
			if err := ask(); err != nil || log.Trouble() != nil {
				t.Errorf("after an answer: %v, %v", err, log.Trouble())
			}
		}
	})
}

// A source tells once that its store is away, and once that it is back.
func TestClaimsTellStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &awayStore{Store: memory.New(nil)}
		store.away.Store(true)
		log, err := launchlog.New(store, &launchlog.Options{Budget: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		var told []string
		nodes, err := claims.Nodes(log, &claims.Options{Notify: func(e claims.Event) {
			told = append(told, string(e.Kind))
			if e.Kind == claims.Away && !errors.Is(e.Err, errAway) {
				t.Errorf("%v does not say why", e)
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		ask := func() { _, _ = nodes.NextWindow(t.Context(), time.Now().Unix(), time.Second) }
		ask()
		ask()
		if st := nodes.Stats(); st.Failed != 2 || st.Away.IsZero() {
			t.Errorf("away: %+v", st)
		}
		store.away.Store(false)
		ask()
		if st := nodes.Stats(); st.Failed != 2 || !st.Away.IsZero() {
			t.Errorf("back: %+v", st)
		}
		if got := strings.Join(told, " "); got != "away taken back" {
			t.Errorf("told %q", got)
		}
	})
}
