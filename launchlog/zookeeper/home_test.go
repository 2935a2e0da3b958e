package zookeeper

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"testing"

	"github.com/idmint/idmint/internal/storesuite"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/kv"
	"github.com/idmint/idmint/launchlog/internal/kv/kvtest"
)

// A log that is deleted and made anew is not the one that an app has opened.
func TestOtherLog(t *testing.T) {
	t.Parallel()
	c := place(t)
	operator := unbound(t, c)
	kvtest.OtherLog(t, kvtest.Place{
		Migrate: func() (int, int, error) { return Migrate(t.Context(), c) },
		Drop: func() error {
			return operator.with(t.Context(), func(ctx context.Context, l *link) error {
				for {
					err := remove(ctx, l, c.Path)
					// Apps may still make znodes below those that are being deleted.
					if outcomeOf(err) != refused {
						return err
					}
				}
			})
		},
		Open: func() (launchlog.Store, kv.Engine, error) {
			s := opened(t, c)
			return s, s.engine, nil
		},
	})
}

// The clock is a znode of the log, so a log that is gone has none.
func TestClockOfOtherLog(t *testing.T) {
	c := prepared(t)
	e := client(t, c)
	e.root = c.rootOf(t, rand.Text())
	if now, err := e.Now(t.Context()); !errors.Is(err, launchlog.ErrOtherLog) {
		t.Errorf("%v, %v", now, err)
	}
}

func (c Config) rootOf(t *testing.T, word string) string {
	t.Helper()
	s, err := c.settings()
	if err != nil {
		t.Fatal(err)
	}
	return s.rootPath(word)
}

// Logs are apart whose paths lie within each other.
func TestPathsAreApart(t *testing.T) {
	t.Parallel()
	c := prepared(t)
	kvtest.Apart(t, func(below string) launchlog.Store {
		c := c
		c.Path += below
		if _, _, err := Migrate(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		return opened(t, c)
	}, "", "/b", "/b/counters", "/00/default:launches")
	root := client(t, c).root
	for _, path := range []string{root, root + "/b", c.Path + "/~log", c.Path + "/b/~"} {
		own := c
		own.Path = path
		_, opening := Open(t.Context(), own)
		_, _, migrating := Migrate(t.Context(), own)
		for _, err := range []error{opening, migrating} {
			var bad *ConfigError
			if !errors.As(err, &bad) || bad.Field != "Path" || bad.Value != path ||
				!strings.Contains(err.Error(), "~") {
				t.Errorf("a log at %s: %v", path, err)
			}
			storesuite.BeginsWith(t, err, "launchlog/zookeeper: ")
		}
	}
}
