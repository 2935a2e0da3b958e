// Package gormidtest helps to test apps that use package gormid.
package gormidtest

import (
	"context"
	"fmt"
	"sync"

	"gorm.io/gorm"

	"github.com/idmint/idmint/gormid"
	"github.com/idmint/idmint/idtype"
)

// Count returns a plugin that assigns the keys 1, 2, 3 … in each table, for tests that expect such
// keys. Use it instead of gormid.New with a generator:
//
//	db.Use(gormidtest.Count[idtype.DecimalID]())
//
// It skips the keys of existing rows, such as fixtures. T is the scheme's type for any entity. The
// keys do not have the scheme's layout, so Validate rejects them, and a generator never mints them.
func Count[T interface {
	~int64
	idtype.ID
}](rules ...gormid.Rule) gorm.Plugin {
	c := &counter[T]{last: map[string]T{}}
	return plugin[T]{c, rules}
}

type plugin[T interface {
	~int64
	idtype.ID
}] struct {
	counter *counter[T]
	rules   []gormid.Rule
}

func (plugin[T]) Name() string { return "idmint" }

func (p plugin[T]) Initialize(db *gorm.DB) error {
	if err := gormid.New(p.counter, p.rules...).Initialize(db); err != nil {
		return err
	}
	// A source sees only the context of a statement.
	return db.Callback().Create().Before("*").Register("idmint:count",
		func(db *gorm.DB) {
			db.Statement.Context = context.WithValue(db.Statement.Context, p.counter, db)
		})
}

// counter is a source that knows its statement.
type counter[T ~int64] struct {
	mu   sync.Mutex
	last map[string]T // by table
}

func (c *counter[T]) Fill(ctx context.Context, dst []T) (int, error) {
	db := ctx.Value(c).(*gorm.DB)
	taken, err := taken[T](db)
	if err != nil {
		return 0, fmt.Errorf("gormidtest: the keys of table %s: %w", db.Statement.Table, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	last := c.last[db.Statement.Table]
	for i := range dst {
		for last++; taken[last]; last++ {
		}
		dst[i] = last
	}
	c.last[db.Statement.Table] = last
	return len(dst), nil
}

// taken reads the existing keys, within the statement's transaction.
func taken[T ~int64](db *gorm.DB) (map[T]bool, error) {
	taken := map[T]bool{}
	if db.Statement.Schema == nil { // a map for a table, whose key only a rule knows
		return taken, nil
	}
	var keys []int64
	err := db.Session(&gorm.Session{NewDB: true}).Table(db.Statement.Table).
		Pluck(db.Statement.Schema.PrioritizedPrimaryField.DBName, &keys).Error
	for _, key := range keys {
		taken[T(key)] = true
	}
	return taken, err
}
