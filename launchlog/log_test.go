package launchlog_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/memory"
	"github.com/idmint/idmint/launchlog/storetest"
)

var ctx = context.Background()

func newLog(t *testing.T, store launchlog.Store, opts *launchlog.Options) *launchlog.Log {
	t.Helper()
	l, err := launchlog.New(store, opts)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestBadRequests(t *testing.T) {
	l := newLog(t, memory.New(nil), nil)
	for _, test := range []struct {
		name  string
		spoil func(*launchlog.Request)
		field string
	}{
		{"no key", func(r *launchlog.Request) { r.Key = "" }, "key"},
		{"no service", func(r *launchlog.Request) { r.Service = "" }, "service"},
		{"no environment", func(r *launchlog.Request) { r.Environment = "" }, "environment"},
		{"no initiator", func(r *launchlog.Request) { r.Initiator = "" }, "initiator"},
		{"long key", func(r *launchlog.Request) { r.Key = strings.Repeat("k", 1<<20) }, "key"},
		{"newline", func(r *launchlog.Request) { r.Version = "1\n2" }, "version"},
		{"NUL", func(r *launchlog.Request) { r.Ticket = "a\x00b" }, "ticket"},
		{"not UTF-8", func(r *launchlog.Request) { r.Reason = "\xff" }, "reason"},
		{"space around the key", func(r *launchlog.Request) { r.Key = "k " }, "key"},
		{"negative launch", func(r *launchlog.Request) { r.RollsBack = -1 }, "rolls_back"},
		{"launch beyond the layout", func(r *launchlog.Request) {
			r.KnownLaunch = 100_000
		}, "known_launch"},
		{"data: not JSON", func(r *launchlog.Request) { r.Data = json.RawMessage("{") }, "data"},
		{"data: no object", func(r *launchlog.Request) { r.Data = json.RawMessage("[1]") }, "data"},
		{"data: null", func(r *launchlog.Request) { r.Data = json.RawMessage("null") }, "data"},
		{"data: two objects", func(r *launchlog.Request) {
			r.Data = json.RawMessage("{} {}")
		}, "data"},
		{"data: a name twice", func(r *launchlog.Request) {
			r.Data = json.RawMessage(`{"a":{"b":1,"b":2}}`)
		}, "data"},
		{"data: not UTF-8", func(r *launchlog.Request) {
			r.Data = json.RawMessage("{\"a\":\"\xff\"}")
		}, "data"},
		{"data: too deep", func(r *launchlog.Request) {
			nested := strings.Repeat("[", 200) + strings.Repeat("]", 200)
			r.Data = json.RawMessage(`{"a":` + nested + "}")
		}, "data"},
		{"data: cut off", func(r *launchlog.Request) {
			r.Data = json.RawMessage(`{"a":[1,`)
		}, "data"},
		{"data: too large", func(r *launchlog.Request) {
			r.Data = json.RawMessage(fmt.Sprintf(`{"x":%q}`, strings.Repeat("y", 65<<10)))
		}, "data"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := storetest.Request("k")
			test.spoil(&r)
			_, err := l.Start(ctx, r)
			var e *launchlog.RequestError
			if !errors.As(err, &e) || e.Field != test.field {
				t.Fatalf("got %v, want a RequestError about %s", err, test.field)
			}
			if len(err.Error()) > 300 {
				t.Errorf("the message has %d bytes", len(err.Error()))
			}
		})
	}
	r := storetest.Request("k")
	r.RollsBack = 7
	if _, err := l.Start(ctx, r); !errors.Is(err, launchlog.ErrNotFound) {
		t.Errorf("rolls back a launch that is not there: %v", err)
	}
	if found, err := l.List(ctx, launchlog.Filter{}); err != nil || len(found) != 0 {
		t.Errorf("bad requests left %v, %v", found, err)
	}
	for _, name := range []string{"A", "a b", "-a", strings.Repeat("a", 64), "a/b"} {
		_, err := launchlog.New(memory.New(nil), &launchlog.Options{Namespace: name})
		if err == nil {
			t.Errorf("namespace %q was taken", name)
		}
	}
	if _, err := launchlog.New(memory.New(nil), &launchlog.Options{Budget: -1}); err == nil {
		t.Error("a negative budget was taken")
	}
	noStore := func(err error) bool {
		var none *launchlog.RequestError
		return errors.As(err, &none) && none.Field == "store"
	}
	if l, err := launchlog.New((*memory.Store)(nil), nil); l != nil || !noStore(err) {
		t.Errorf("a nil pointer for a store: %v, %v", l, err)
	}
	if l, err := launchlog.New(nil, nil); l != nil || !noStore(err) {
		t.Errorf("without a store: %v, %v", l, err)
	}
	for _, outcome := range []launchlog.Outcome{
		"", "Failed", "not good", launchlog.Outcome(strings.Repeat("x", 33)),
	} {
		var e *launchlog.RequestError
		if _, err := l.End(ctx, 1, launchlog.Ending{Outcome: outcome}); !errors.As(err, &e) {
			t.Errorf("outcome %q: %v", outcome, err)
		}
	}
}

// TestNothingMade: no method of a nil pointer or a zero value panics, and those that ask a store have
// an error, whether their arguments are zero or good.
func TestNothingMade(t *testing.T) {
	app := launchlog.App{Service: "shop", Environment: "test", Launch: 1}
	good := map[reflect.Type]any{
		reflect.TypeFor[int]():               1,
		reflect.TypeFor[int64]():             int64(1),
		reflect.TypeFor[launchlog.App]():     app,
		reflect.TypeFor[launchlog.Ending]():  launchlog.Ending{Outcome: launchlog.Failed, Actor: "ann"},
		reflect.TypeFor[launchlog.Raise]():   launchlog.Raise{To: 1, Note: launchlog.NewNote()},
		reflect.TypeFor[launchlog.Request](): storetest.Request("a"),
	}
	for _, v := range []any{
		(*launchlog.Log)(nil), new(launchlog.Log),
		(*launchlog.Generators)(nil), new(launchlog.Generators), (*launchlog.Log)(nil).Generators(1),
		(*launchlog.Counter)(nil), new(launchlog.Counter),
	} {
		value := reflect.ValueOf(v)
		for i := range 2 * value.NumMethod() {
			name, method := value.Type().Method(i/2).Name, value.Method(i/2)
			var args []reflect.Value
			for j := range method.Type().NumIn() {
				in := method.Type().In(j)
				switch in {
				case reflect.TypeFor[context.Context]():
					args = append(args, reflect.ValueOf(ctx))
				case reflect.TypeFor[string]():
					args = append(args, reflect.ValueOf("orders"))
				default:
					arg := reflect.Zero(in)
					if v, ok := good[in]; ok && i%2 == 1 {
						arg = reflect.ValueOf(v)
					}
					args = append(args, arg)
				}
			}
			results := method.Call(args)
			last := results[len(results)-1]
			asks := len(args) > 0 && args[0].Type() == reflect.TypeOf(ctx)
			if failed := last.Type() == reflect.TypeFor[error]() && !last.IsNil(); asks && !failed {
				t.Errorf("%T(%[1]v).%s has no error", v, name)
			}
		}
	}
}

// The hash must not change between versions of idmint: a retry of a deployment may run with a newer
// one.
func TestRequestHashIsStable(t *testing.T) {
	l := newLog(t, memory.New(nil), nil)
	r := storetest.Request("k")
	r.RollsBack, r.Data = 0, json.RawMessage(`{"b":2,"a":1}`)
	launch, err := l.Start(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	// printf '%s' '{"service":"shop","environment":"test","initiator":"ann","data":{"a":1,"b":2}}'
	// | sha256sum
	const want = "2237320861c33a9d002362e0233ae687af3ccc4c58797fe105a602e4de97847a"
	if launch.RequestHash != want {
		t.Errorf("hash %s, want %s", launch.RequestHash, want)
	}
	r.Data = json.RawMessage("{ \"a\":1,\n\"b\":2}\n")
	if again, err := l.Start(ctx, r); err != nil || again.ID != launch.ID {
		t.Errorf("the same data in another form: %v", err)
	}
}

// stubborn never settles a claim.
type stubborn struct {
	launchlog.Store
	ambiguous bool
	calls     int
	tokens    map[string]bool
}

func (s *stubborn) ClaimGenerator(
	_ context.Context, take launchlog.Claim,
) (launchlog.Claim, error) {
	s.calls++
	s.tokens[take.Token] = true
	return launchlog.Claim{}, &launchlog.AttemptError{
		Ambiguous: s.ambiguous && s.calls == 1, Err: errors.New("busy"),
	}
}

func TestBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, ambiguous := range []bool{false, true} {
			s := &stubborn{Store: memory.New(nil), ambiguous: ambiguous, tokens: map[string]bool{}}
			l := newLog(t, s, &launchlog.Options{Budget: 200 * time.Millisecond})
			_, err := l.Claim(ctx, 1)
			var u *launchlog.UnresolvedError
			if !errors.As(err, &u) {
				t.Fatalf("got %v, want an UnresolvedError", err)
			}
			if u.Uncertain != ambiguous {
				t.Errorf("uncertain: %v, want %v: one lost answer is remembered",
					u.Uncertain, ambiguous)
			}
			if u.Attempts != s.calls || s.calls < 3 {
				t.Errorf("%d attempts, %d calls", u.Attempts, s.calls)
			}
			if len(s.tokens) != 1 || !s.tokens[u.Key] {
				t.Errorf("the attempts had %d tokens, want one, which the error names",
					len(s.tokens))
			}
			if !strings.Contains(err.Error(), "budget") || !strings.Contains(err.Error(), "busy") {
				t.Errorf("message: %v", err)
			}
		}
	})
}

// sick loses its first answer, and then fails for good.
type sick struct {
	launchlog.Store
	calls int
}

var errSick = errors.New("disk I/O error")

func (s *sick) StartLaunch(ctx context.Context, start launchlog.Launch) (launchlog.Launch, error) {
	if s.calls++; s.calls > 1 {
		return launchlog.Launch{}, errSick
	}
	if _, err := s.Store.StartLaunch(ctx, start); err != nil {
		return launchlog.Launch{}, err
	}
	return launchlog.Launch{}, &launchlog.AttemptError{Ambiguous: true, Err: errSick}
}

// A final error does not hide that an earlier attempt may have been carried out: here it was.
func TestFinalErrorAfterLostAnswer(t *testing.T) {
	l := newLog(t, &sick{Store: memory.New(nil)}, nil)
	_, err := l.Start(ctx, storetest.Request("k"))
	var u *launchlog.UnresolvedError
	if !errors.As(err, &u) || !u.Uncertain || u.Attempts != 2 || !errors.Is(err, errSick) {
		t.Errorf("got %v, want an UnresolvedError that is uncertain", err)
	}
}

func TestContextEndsTheWait(t *testing.T) {
	s := &stubborn{Store: memory.New(nil), tokens: map[string]bool{}}
	l := newLog(t, s, nil)
	c, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	_, err := l.Claim(c, 1)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestUsageLevels(t *testing.T) {
	for used, level := range map[int64]int{
		0: 0, 79_999: 0, 80_000: 80, 89_999: 80, 90_000: 90, 94_999: 90, 95_000: 95, 100_000: 95,
	} {
		u := launchlog.Usage{Used: used, Max: 100_000}
		if u.Level() != level {
			t.Errorf("level of %d: %d, want %d", used, u.Level(), level)
		}
	}
	const nine = math.MaxInt64 / 10 * 9
	for used, level := range map[int64]int{
		math.MaxInt64 / 10 * 7: 0, nine - 1<<20: 80, nine + 1<<20: 90, math.MaxInt64: 95,
	} {
		u := launchlog.Usage{Counter: "c", Used: used, Max: math.MaxInt64}
		if u.Level() != level {
			t.Errorf("level of a counter at %d: %d, want %d", used, u.Level(), level)
		}
	}
}

func ExampleLog() {
	log, err := launchlog.New(memory.New(nil), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	request := launchlog.Request{
		Key: "run-4711", Service: "shop", Environment: "production", Initiator: "ann",
	}
	launch, err := log.Start(ctx, request) // once per deployment, outside the app
	fmt.Println(launch.ID, err)
	again, err := log.Start(ctx, request) // the step is retried
	fmt.Println(again.ID, err)

	claim, err := log.Claim(ctx, launch.ID) // at each start of an app
	fmt.Println(claim.Generator, err)
	claim, err = log.Claim(ctx, launch.ID)
	fmt.Println(claim.Generator, err)
	// Output:
	// 1 <nil>
	// 1 <nil>
	// 0 <nil>
	// 1 <nil>
}

// blocked is a store whose lock somebody has. It is cut off in its second attempt.
type blocked struct {
	launchlog.Store
	attempts int
}

var errInTheWay = errors.New("somebody has the lock")

func (s *blocked) StartLaunch(ctx context.Context, _ launchlog.Launch) (launchlog.Launch, error) {
	if s.attempts++; s.attempts == 1 {
		return launchlog.Launch{}, &launchlog.AttemptError{Err: errInTheWay}
	}
	<-ctx.Done()
	return launchlog.Launch{}, ctx.Err()
}

// An attempt that is cut off says nothing. What was in the way before is still what to know.
func TestWhatWasInTheWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, err := newLog(t, &blocked{}, nil).Start(ctx, storetest.Request("a"))
		var u *launchlog.UnresolvedError
		if !errors.As(err, &u) || u.Uncertain || u.Attempts != 2 || !errors.Is(err, errInTheWay) {
			t.Errorf("got %v, want what was in the way", err)
		}
	})
}

// The package's name stands once in an error's text, in front, whatever the error is about.
func TestErrorsNameThePackageOnce(t *testing.T) {
	l := newLog(t, memory.New(nil), nil)
	c, err := l.Counter("orders")
	if err != nil {
		t.Fatal(err)
	}
	rollback := storetest.Request("a")
	rollback.RollsBack = 77
	behind := storetest.Request("b")
	behind.KnownLaunch = 9
	over, cancel := context.WithCancel(ctx)
	cancel()
	said := func(_ any, err error) string { return fmt.Sprint(err) }
	for want, got := range map[string]string{
		"launchlog: launch 7: no such launch": said(l.Show(ctx, 7)),
		"launchlog: launch 8: no such launch": said(l.Claim(ctx, 8)),
		"launchlog: launch 9: no such launch": said(
			l.End(ctx, 9, launchlog.Ending{Outcome: launchlog.Failed})),
		"launchlog: namespace default: rolls back launch 77: no such launch": said(
			l.Start(ctx, rollback)),
		"launchlog: namespace default: the store has lost numbers that it gave out: " +
			"stop all apps, and follow docs/operate/restore.md before you start any of them again: launch 9 is known, the last one is 0": said(l.Start(ctx, behind)),
		"launchlog: counter orders: last \"orders\" gave up after 0 attempts: " +
			"context canceled": said(c.Last(over)),
	} {
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
