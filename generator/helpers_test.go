package generator_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
)

// Every request for a number has an end, also one whose callers have all gone.
func TestMain(m *testing.M) { goleak.VerifyTestMain(patient{m}) }

// patient gives requests that are still under way a minute to end.
type patient struct{ *testing.M }

func (p patient) Run() int {
	code := p.M.Run()
	for end := time.Now().Add(time.Minute); goleak.Find() != nil && time.Now().Before(end); {
	}
	return code
}

const (
	span   = 922_337_202 // counters per generator number, as the layout has them
	launch = 65
)

var (
	ctx      = context.Background()
	canceled = func() context.Context {
		c, cancel := context.WithCancel(ctx)
		cancel()
		return c
	}()
	errAway     = errors.New("the launch log is away")
	errNoNumber = errors.New("the test gave the source no more numbers")
)

// A script is a source that a test steers, of numbers, windows or anything else.
type script[T any] struct {
	mu      sync.Mutex // guards the rest
	answers []T        // to come, in order
	calls   int        // how often it was asked
	err     error      // while set, every answer
	hold    chan struct{}
}

// ask returns the next answer, or the one beside an error.
func (s *script[T]) ask(ctx context.Context, beside T) (none T, _ error) {
	s.mu.Lock()
	s.calls++
	hold := s.hold
	s.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return none, ctx.Err()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return beside, s.err
	}
	if len(s.answers) == 0 {
		return none, errNoNumber
	}
	answer := s.answers[0]
	s.answers = s.answers[1:]
	return answer, nil
}

// add appends to the answers.
func (s *script[T]) add(answers ...T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers = append(s.answers, answers...)
}

// fail makes every answer err, until it is nil.
func (s *script[T]) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

// block makes calls wait until release.
func (s *script[T]) block() (release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	hold := make(chan struct{})
	s.hold = hold
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.hold = nil
		close(hold)
	})
}

func (s *script[T]) wantCalls(t *testing.T, want int) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls != want {
		t.Fatalf("the source was asked %d times, want %d", s.calls, want)
	}
}

// source is a Numbers.
type source struct{ script[int] }

// newSource answers with the numbers, then with an error.
func newSource(numbers ...int) *source { return &source{script[int]{answers: numbers}} }

func (s *source) NextGenerator(ctx context.Context) (int, int, error) {
	n, err := s.ask(ctx, 7) // a number beside an error is none
	return launch, n, err
}

// numbersFunc is a Numbers for what source cannot do.
type numbersFunc func(context.Context) (int, error)

func (f numbersFunc) NextGenerator(ctx context.Context) (int, int, error) {
	n, err := f(ctx)
	return launch, n, err
}

// ofLaunch is numbers of another launch.
type ofLaunch struct {
	generator.Numbers
	launch int
}

func (o ofLaunch) NextGenerator(ctx context.Context) (int, int, error) {
	_, n, err := o.Numbers.NextGenerator(ctx)
	return o.launch, n, err
}

func newDecimal(t testing.TB, numbers generator.Numbers) *generator.Decimal {
	t.Helper()
	g, err := generator.NewDecimal(numbers)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// started has minted counter 1 of its first number.
func started(t testing.TB, numbers generator.Numbers) *generator.Decimal {
	t.Helper()
	g := newDecimal(t, numbers)
	if _, err := g.Next(ctx); err != nil {
		t.Fatal(err)
	}
	return g
}

// id is the ID that has these digits.
func id(counter, number int) idtype.DecimalID {
	return idtype.MustParse[idtype.DecimalID](fmt.Sprintf("%d%05d%05d", counter, number, launch))
}

// mint is a way to get n IDs, all those that the generator tests are about.
type mint struct {
	name string
	mint func(g *generator.Decimal, n int) ([]idtype.DecimalID, error)
}

var mints = []mint{
	{"Next", func(g *generator.Decimal, n int) (ids []idtype.DecimalID, err error) {
		for len(ids) < n {
			id, err := g.Next(ctx)
			if err != nil {
				return ids, err
			}
			ids = append(ids, id)
		}
		return ids, nil
	}},
	{"Fill", func(g *generator.Decimal, n int) ([]idtype.DecimalID, error) {
		ids := make([]idtype.DecimalID, n)
		n, err := g.Fill(ctx, ids)
		return ids[:n], err
	}},
	{"Owned(3)", owned(3)},
	{"Owned(1000)", owned(1000)},
	{"Owned(-1)", owned(-1)}, // as 1
}

// eachMint runs a test for every way, each in a bubble.
func eachMint(t *testing.T, test func(*testing.T, mint)) {
	for _, m := range mints {
		t.Run(m.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, m) })
		})
	}
}

func owned(block int) func(g *generator.Decimal, n int) ([]idtype.DecimalID, error) {
	return func(g *generator.Decimal, n int) (ids []idtype.DecimalID, err error) {
		o := g.Owned(block)
		for len(ids) < n {
			id, err := o.Next(ctx)
			if err != nil {
				return ids, err
			}
			ids = append(ids, id)
		}
		return ids, nil
	}
}

func wantIDs(t *testing.T, got []idtype.DecimalID, want ...idtype.DecimalID) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("minted %v, want %v", got, want)
	}
}

// wantNumberError fails unless err is a *NumberError for the reason.
func wantNumberError(t *testing.T, err, reason error) {
	t.Helper()
	var e *generator.NumberError
	if !errors.As(err, &e) {
		t.Fatalf("error is %#v, want a *NumberError", err)
	}
	if !errors.Is(err, reason) {
		t.Fatalf("error is %v, want one that wraps %v", err, reason)
	}
}
