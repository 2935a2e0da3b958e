package kv

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/idmint/idmint/internal/dialect"
	"github.com/idmint/idmint/launchlog"
)

// Store keeps launch logs in an engine. In addition to launchlog.Store, it guarantees:
//
//   - Times are those of the process that writes. They are for people, and no step compares them. A
//     row or event is never earlier than an existing one of the same kind in its partition: the
//     launches and advances of a namespace, the claims and end of a launch, or a log counter.
//     Events of the namespace are in the order of these times.
//   - The token of a claim is searched among the claims of its launch.
//   - An advance of the launch numbers ends the launches one by one. If it is cut off, the next
//     advance completes it before doing anything else.
type Store struct {
	engine Engine
	now    func() time.Time
	queue  *queue
}

var _ launchlog.Store = (*Store)(nil)

// New returns a store over an engine that is bound to the log that [Find] found. It does not access
// the engine. Now is the process's clock; nil means time.Now.
func New(engine Engine, now func() time.Time) *Store {
	if now == nil {
		now = time.Now
	}
	return &Store{engine: engine, now: now, queue: newQueue()}
}

// clock returns the time as rows store it.
func (s *Store) clock() time.Time { return s.now().UTC().Round(0) }

// Now implements launchlog.Store.
func (s *Store) Now(ctx context.Context) (time.Time, error) { return s.engine.Now(ctx) }

// A step that loses its commit to another process is tried this often, with pauses of up to
// longestPause. After that, the launchlog.Log decides. After some tries the step waits in line, if
// the engine has lines: see [Lines].
const (
	tries        = 10
	longestPause = time.Second
	alone        = 3 // tries before the line
	atHead       = 5 // tries at its head, without a pause
)

// errRaced means that nothing was changed.
var errRaced = &launchlog.AttemptError{Err: errors.New("other processes were faster")}

// step runs try until it is done, in the queue of a partition. Try reads and commits once, and is
// not done if another process was faster.
func (s *Store) step(
	ctx context.Context, part string, try func(context.Context) (done bool, err error),
) error {
	leave, err := s.queue.enter(ctx, part)
	if err != nil {
		return err
	}
	defer leave()
	return s.unqueued(ctx, part, try)
}

// unqueued is step without the queue. A step within another one would wait for itself if their
// partitions shared a lane.
func (s *Store) unqueued(
	ctx context.Context, part string, try func(context.Context) (done bool, err error),
) error {
	lines, hasLines := s.engine.(Lines)
	for n := range dialect.Attempts(ctx, longestPause) {
		times := 1
		if n == alone+1 && hasLines {
			defer lines.Wait(ctx, part)()
			times = atHead
		}
		for range times {
			if done, err := try(ctx); done || err != nil {
				return err
			}
		}
		if n == tries {
			return errRaced
		}
	}
	return ctx.Err()
}

// row reads one row of a partition.
func row[T any](ctx context.Context, s *Store, part, name string) (v T, r Row, err error) {
	rows, err := s.engine.Read(ctx, part, name)
	if err != nil {
		return v, r, err
	}
	v, err = decode[T](part, rows[0])
	return v, rows[0], err
}

// two reads the state of a partition, and another row.
func two[S, T any](
	ctx context.Context, s *Store, part, name string,
) (state S, other T, rows []Row, err error) {
	rows, err = s.engine.Read(ctx, part, stateRow, name)
	if err == nil {
		state, err = decode[S](part, rows[0])
	}
	if err == nil {
		other, err = decode[T](part, rows[1])
	}
	return state, other, rows, err
}

// A page of a listing has pageRows rows, and up to mostRows if many numbers have none.
const (
	pageRows = 250
	mostRows = 1000
)

// pages lists the values of a partition's rows as Engine.List does, page by page. No page is empty.
func pages[T any](
	ctx context.Context, s *Store, part, after, before string, limit int,
) iter.Seq2[[]T, error] {
	return func(yield func([]T, error) bool) {
		for limit > 0 {
			asked := min(pageRows, limit)
			rows, err := s.engine.List(ctx, part, after, before, asked)
			var page []T
			if err == nil {
				page, err = decodeAll[T](rows, func(int) string { return part })
			}
			if len(page) == 0 && err == nil || !yield(page, err) || len(page) < asked ||
				err != nil {
				return
			}
			limit -= len(rows)
			after = rows[len(rows)-1].Name
		}
	}
}

// states returns the states of partitions.
func states[T any](ctx context.Context, s *Store, parts []string) ([]T, error) {
	if len(parts) == 0 {
		return nil, nil
	}
	rows, err := s.engine.Each(ctx, parts, stateRow)
	if err != nil {
		return nil, err
	}
	return decodeAll[T](rows, func(i int) string { return parts[i] })
}

// The row of the schema's version. It is not in any namespace, because namespaces have no capital
// letters.
const (
	SchemaPart    = "Schema"
	SchemaRow     = "version"
	SchemaVersion = 1 // the next version fits as well
)

type schema struct {
	Version int `json:"version"`
	// Log is a random word that was drawn when the log was created. A log that is created later in
	// the same place has another one.
	Log string `json:"log"`
}

// Word returns the word of the log with this schema row.
func Word(row Row) (string, error) {
	s, err := decode[schema](SchemaPart, row)
	return s.Log, err
}

// Migrate prepares an engine for [Find]. It returns the versions before and after, with 0 before a
// new log. It may be called again, and by many processes at once. It waits as Find does. If the
// existing version is newer by more than one, the error is a [*launchlog.SchemaError].
func Migrate(ctx context.Context, engine Engine) (from, to int, err error) {
	s := New(engine, nil)
	made := schema{SchemaVersion, word()}
	err = Await(ctx, awaitTime, func(ctx context.Context) error {
		return s.step(ctx, SchemaPart, func(ctx context.Context) (bool, error) {
			there, r, err := row[schema](ctx, s, SchemaPart, SchemaRow)
			switch {
			case err != nil:
				return true, err
			case there == made: // by a commit whose answer was lost
				return true, nil
			case there.Version == SchemaVersion || there.Version == SchemaVersion+1:
				from = there.Version
				return true, nil
			case there.Version != 0:
				from = there.Version
				return true, &launchlog.SchemaError{Have: there.Version, Want: SchemaVersion}
			}
			return s.commit(ctx, SchemaPart, change{r, made})
		})
	})
	if err != nil {
		return from, from, err
	}
	return from, max(from, SchemaVersion), nil
}

// Find finds the launch log that [Migrate] has created in an engine, and returns its schema row.
// Bind the engine to that row before you call [New]: see [Engine]. Find waits up to 10 s for an
// engine that does not answer. The error is a [*launchlog.SchemaError] if there is no log or if a
// newer version created it, the context's, or the engine's.
func Find(ctx context.Context, engine Engine) (found Row, err error) {
	s := New(engine, nil)
	err = Await(ctx, awaitTime, func(ctx context.Context) error {
		there, r, err := row[schema](ctx, s, SchemaPart, SchemaRow)
		found = r
		if err == nil && there.Version != SchemaVersion && there.Version != SchemaVersion+1 {
			return &launchlog.SchemaError{Have: there.Version, Want: SchemaVersion}
		}
		return err
	})
	return found, err
}

// awaitTime limits how long [Find] and [Migrate] wait for an engine that does not answer.
const awaitTime = 10 * time.Second

// Await repeats try while its errors are temporary, until patience has passed. The error is the
// context's or try's.
func Await(
	ctx context.Context, patience time.Duration, try func(context.Context) error,
) error {
	return dialect.Await(ctx, patience, func(err error) bool {
		return errors.As(err, new(*launchlog.AttemptError)) && !Hopeless(err)
	}, try)
}
