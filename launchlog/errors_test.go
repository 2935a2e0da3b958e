package launchlog_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/rows"
	"github.com/idmint/idmint/launchlog/storetest"
)

// What a store says leaves with the package's name in front, once. The steps of a store that was
// not opened all fail.
func TestErrorsBeginWithThePackage(t *testing.T) {
	l, err := launchlog.New(&rows.Steps{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	counter, err := l.Counter("shop/orders")
	if err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]func() error{
		"Start":    func() error { _, err := l.Start(ctx, storetest.Request("a")); return err },
		"Show":     func() error { _, err := l.Show(ctx, 1); return err },
		"List":     func() error { _, err := l.List(ctx, launchlog.Filter{}); return err },
		"Events":   func() error { _, err := l.Events(ctx, 1); return err },
		"Events 0": func() error { _, err := l.Events(ctx, 0); return err },
		"Claim":    func() error { _, err := l.Claim(ctx, 1); return err },
		"Claims":   func() error { _, err := l.Claims(ctx, 1, 0, 1); return err },
		"Advance":  func() error { _, err := l.Advance(ctx, 1, "ann"); return err },
		"Counters": func() error { _, err := l.Counters(ctx, "", 1); return err },
		"End": func() error {
			_, err := l.End(ctx, 1, launchlog.Ending{Outcome: launchlog.Succeeded})
			return err
		},
		"NextGenerator": func() error {
			_, err := l.Generators(1).NextGenerator(ctx)
			return err
		},
		"Counter.Reserve": func() error { _, err := counter.Reserve(ctx, 1, 1); return err },
		"Counter.Last":    func() error { _, err := counter.Last(ctx); return err },
		"Counter.Advance": func() error { _, err := counter.Advance(ctx, 1, "ann"); return err },
	} {
		err := call()
		if err == nil || !strings.HasPrefix(err.Error(), "launchlog: ") ||
			strings.Count(err.Error(), "launchlog") != 1 {
			t.Errorf("%s: %v, want launchlog: in front, once", name, err)
		}
		if unresolved := new(launchlog.UnresolvedError); errors.As(err, &unresolved) {
			t.Errorf("%s: %v, want the store's final error", name, err)
		}
	}
}

// TestNoLog: a log that is nil, or not made by New, says so and does not panic.
func TestNoLog(t *testing.T) {
	for name, l := range map[string]*launchlog.Log{"nil": nil, "zero": {}} {
		for call, err := range map[string]error{
			"List":     second(l.List(ctx, launchlog.Filter{})),
			"Events":   second(l.Events(ctx, 0)),
			"Advance":  second(l.Advance(ctx, 1, "ann")),
			"Counters": second(l.Counters(ctx, "", 1)),
			"Show":     second(l.Show(ctx, 1)),
			"Start":    second(l.Start(ctx, storetest.Request("a"))),
			"Claim":    second(l.Claim(ctx, 1)),
			"End":      second(l.End(ctx, 1, launchlog.Ending{Outcome: launchlog.Failed})),
		} {
			var request *launchlog.RequestError
			if !errors.As(err, &request) || request.Field != "store" ||
				strings.Contains(err.Error(), "namespace") {
				t.Errorf("%s, %s: %v, want a RequestError about the store", name, call, err)
			}
		}
	}
}

func second[T any](_ T, err error) error { return err }

// An error shows what it is about as it was given. Only what is not seen is escaped, and where it
// ends is plain.
func TestErrorsQuote(t *testing.T) {
	for value, want := range map[string]string{
		`{"a": 1`:      "`{\"a\": 1`",
		`plain`:        `"plain"`,
		"a\"b`c":       `"a\"b` + "`" + `c"`,
		"a\"\u202eb":   `"a\"\u202eb"`,
		"a\"\tb":       `"a\"\tb"`,
		"a\"\u00a0b":   `"a\"\u00a0b"`,
		`back\slash"`:  "`back\\slash\"`",
		"line\n\"next": `"line\n\"next"`,
	} {
		err := &launchlog.RequestError{Field: "data", Value: value, Reason: "is bad"}
		if got := err.Error(); got != "launchlog: data "+want+" is bad" {
			t.Errorf("%q: %s, want %s", value, got, want)
		}
	}
}
