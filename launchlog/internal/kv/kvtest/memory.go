package kvtest

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/idmint/idmint/launchlog/internal/kv"
)

// Memory is an engine in memory. It panics if its caller asks for something that no engine
// promises. Create it with [NewMemory].
type Memory struct {
	mu    sync.Mutex // guards the fields below
	parts map[string]map[string]kv.Row
	made  map[string]bool // values that were written
}

var _ kv.Engine = (*Memory)(nil)

// NewMemory returns an empty engine.
func NewMemory() *Memory {
	return &Memory{parts: map[string]map[string]kv.Row{}, made: map[string]bool{}}
}

var segment = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._~%-]{0,254}$`)

func check(part string, names ...string) {
	segments := strings.Split(part, "/")
	if len(segments) > 3 {
		panic(fmt.Sprintf("a partition of %d segments: %q", len(segments), part))
	}
	for _, s := range append(segments, names...) {
		if !segment.MatchString(s) {
			panic(fmt.Sprintf("no segment: %q", s))
		}
	}
}

// Read implements kv.Engine.
func (m *Memory) Read(ctx context.Context, part string, names ...string) ([]kv.Row, error) {
	check(part, names...)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.read(part, names), nil
}

func (m *Memory) read(part string, names []string) []kv.Row {
	rows := make([]kv.Row, len(names))
	for i, name := range names {
		rows[i] = m.parts[part][name]
		rows[i].Name = name
	}
	return rows
}

// Commit implements kv.Engine.
func (m *Memory) Commit(
	ctx context.Context, part string, changes ...kv.Change,
) (done bool, err error) {
	var names []string
	for _, c := range changes {
		check(part, c.Name)
		if slices.Contains(names, c.Name) || len(c.Value) > 256<<10 || c.Version < 0 ||
			c.Value == nil && c.Version == 0 || (c.Value == nil) != (changes[0].Value == nil) ||
			c.Value != nil && len(changes) > 4 || len(changes) > kv.MostDeletes {
			panic(fmt.Sprintf("no commit: %d changes, %q, version %d, %d bytes", len(changes),
				c.Name, c.Version, len(c.Value)))
		}
		names = append(names, c.Name)
	}
	if err := ctx.Err(); err != nil {
		return false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, r := range m.read(part, names) {
		if r.Version != changes[i].Version {
			return false, nil
		}
	}
	for other := range m.parts {
		if strings.HasPrefix(other, part+"/") || strings.HasPrefix(part, other+"/") {
			panic(fmt.Sprintf("partition %q and %q", part, other))
		}
	}
	if m.parts[part] == nil {
		m.parts[part] = map[string]kv.Row{}
	}
	for _, c := range changes {
		if c.Value == nil {
			delete(m.parts[part], c.Name)
			continue
		}
		value := part + "/" + c.Name + " " + string(c.Value)
		if m.made[value] {
			panic("two commits write " + value)
		}
		m.made[value] = true
		m.parts[part][c.Name] = kv.Row{
			Name: c.Name, Value: slices.Clone(c.Value), Version: c.Version + 1,
		}
	}
	return true, nil
}

// List implements kv.Engine.
func (m *Memory) List(
	ctx context.Context, part, after, before string, limit int,
) (rows []kv.Row, err error) {
	check(part)
	if limit < 1 || limit > 1000 {
		panic(fmt.Sprintf("no list: up to %d", limit))
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(m.parts[part])) {
		if name > after && (before == "" || name < before) && len(rows) < limit {
			rows = append(rows, m.parts[part][name])
		}
	}
	return rows, nil
}

// Each implements kv.Engine.
func (m *Memory) Each(ctx context.Context, parts []string, name string) ([]kv.Row, error) {
	if len(parts) > 1000 {
		panic(fmt.Sprintf("%d partitions", len(parts)))
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	rows := make([]kv.Row, len(parts))
	for i, part := range parts {
		check(part, name)
		rows[i] = m.read(part, []string{name})[0]
	}
	return rows, nil
}

// Now implements kv.Engine. It returns zero, because Memory has no clock.
func (m *Memory) Now(ctx context.Context) (time.Time, error) { return time.Time{}, ctx.Err() }
