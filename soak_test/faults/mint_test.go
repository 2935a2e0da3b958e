package faults_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/claims"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/launchlog"
)

// A minter makes what mints IDs of a scheme. Some mints some of them, as text.
type minter func(w *worker, l *launchlog.Log) (
	some func(context.Context) ([]string, error), end func(context.Context) error, err error,
)

const batch = 16 // IDs that are minted at a time

// minters mint with numbers that the log lends or gives.
var minters = map[idtype.Scheme]minter{
	idtype.SchemeTrace: lent(claims.Nodes, generator.NewTrace),
	idtype.SchemeSno:   lent(claims.Partitions, generator.NewSno),
	idtype.SchemeEightByte: lent(claims.Pairs, func(
		pairs generator.Windows[generator.EightBytePair], o *generator.Options,
	) (*generator.EightByte, error) {
		return generator.NewEightByte(idtype.EightByteSpread, pairs, o)
	}),
	idtype.SchemeDecimal: func(w *worker, l *launchlog.Log) (
		func(context.Context) ([]string, error), func(context.Context) error, error,
	) {
		launch := w.latest.Load()
		if launch == 0 {
			return nil, nil, errNoLaunch
		}
		g, err := generator.NewDecimal(l.Generators(int(launch)))
		return texts(g.Fill), g.Close, err
	},
}

// lent is a minter with numbers that are lent.
func lent[W generator.Windows[N], N any, G interface {
	Fill(context.Context, []ID) (int, error)
}, ID fmt.Stringer](
	claim func(*launchlog.Log, *claims.Options) (W, error),
	build func(generator.Windows[N], *generator.Options) (G, error),
) minter {
	return func(_ *worker, l *launchlog.Log) (
		func(context.Context) ([]string, error), func(context.Context) error, error,
	) {
		numbers, err := claim(l, lending())
		if err != nil {
			return nil, nil, err
		}
		g, err := build(numbers, nil)
		return texts(g.Fill), nil, err
	}
}

var errNoLaunch = errors.New("no launch is known yet")

// lending are numbers that are fought for: few of them, and lent for a short time.
func lending() *claims.Options {
	return &claims.Options{
		Length: 2 * time.Second, Quiet: time.Second, Part: &generator.Pool{Max: 2 * processes},
	}
}

// texts returns the IDs of a batch as text.
func texts[T fmt.Stringer](
	fill func(context.Context, []T) (int, error),
) func(context.Context) ([]string, error) {
	return func(ctx context.Context) ([]string, error) {
		ids := make([]T, batch)
		n, err := fill(ctx, ids)
		list := make([]string, n)
		for i, id := range ids[:n] {
			list[i] = id.String()
		}
		return list, err
	}
}

// term is how long a generator is used. All workers make others at the same moments, so they fight
// for numbers.
const term = 2 * time.Second

// mint mints IDs of a scheme and writes them down, until the worker is told to end. It begins with
// another generator each term. The error is that of the files.
func (w *worker) mint(l *launchlog.Log, scheme idtype.Scheme, make minter) error {
	out, err := os.OpenFile(filepath.Join(filepath.Dir(w.Out), "ids-"+string(scheme)+"-"+w.Name),
		os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	for !w.told() {
		next := (now()/term + 1) * term
		some, end, err := make(w, l)
		for err == nil && now() < next && !w.told() {
			var ids []string
			began := now()
			ctx, cancel := context.WithTimeout(context.Background(), mintTime)
			ids, err = some(ctx)
			cancel()
			if len(ids) != 0 {
				_, werr := out.WriteString(strings.Join(ids, "\n") + "\n")
				if werr != nil {
					return werr
				}
			}
			r := record{
				Call: fmt.Sprintf("%s:%d", w.Name, w.calls.Add(1)), Op: mint, Key: string(scheme),
				Space: namespaces[0], N: int64(len(ids)), Limit: mintTime, Took: now() - began,
			}
			outcome := acknowledged
			if err != nil {
				outcome, r.Error = unminted(err), err.Error()
			}
			if werr := w.write(r, outcome); werr != nil {
				return werr
			}
			time.Sleep(min(25*time.Millisecond, max(0, next-now()))) // the pace of an app
		}
		if end != nil {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			_ = end(ctx) // a report that is lost costs order alone
			cancel()
		}
		if err != nil {
			time.Sleep(100 * time.Millisecond)
		}
	}
	return nil
}

const mintTime = 5 * time.Second

// unminted is how a call ends that has minted too little.
func unminted(err error) event {
	var unknown *launchlog.UnresolvedError
	var clock *generator.ClockError
	var lent *claims.LentError
	switch {
	case errors.Is(err, launchlog.ErrEnded): // its launch was advanced over
		return refused
	case errors.As(err, &unknown), errors.As(err, &clock), errors.As(err, &lent),
		errors.Is(err, context.DeadlineExceeded),
		// The process was held, or the store answered, beyond the end of the window of 2 s.
		strings.Contains(err.Error(), ", which has passed"),
		strings.HasSuffix(err.Error(), " has passed"):
		return unresolved
	}
	return failed
}

// minted counts the IDs that the workers wrote down in a folder, and those that are repeats.
func minted(t *testing.T, dir string) (ids, repeats int, first []string) {
	t.Helper()
	for scheme := range minters {
		names, err := filepath.Glob(filepath.Join(dir, "ids-"+string(scheme)+"-*"))
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			end := bytes.LastIndexByte(text, '\n') + 1 // a worker was killed over what follows
			all = append(all, strings.Fields(string(text[:end]))...)
		}
		slices.Sort(all)
		ids += len(all)
		for i := 1; i < len(all); i++ {
			if all[i] == all[i-1] {
				if repeats++; len(first) < 5 {
					first = append(first, fmt.Sprintf("%s %s", scheme, all[i]))
				}
			}
		}
	}
	return ids, repeats, first
}
