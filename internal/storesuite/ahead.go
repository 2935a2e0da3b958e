package storesuite

import (
	"errors"
	"strings"
	"testing"

	"github.com/idmint/idmint/launchlog"
)

// Ahead shows what a store of SQL says of rows that are ahead of the numbers that were given out,
// and that its statement mends them. Exec runs a statement, as an app's role may. Findings are what
// doctor finds of such rows.
func Ahead(t *testing.T, store launchlog.Store, exec func(text string), findings func() []string) {
	t.Helper()
	l := newLog(t, store, nil)
	start(t, l, "a")
	if _, err := l.Claim(ctx, 1); err != nil {
		t.Fatal(err)
	}
	launch := func() (int, error) {
		launch, err := l.Start(ctx, Request("b"))
		return launch.ID, err
	}
	claim := func() (int, error) {
		claim, err := l.Claim(ctx, 1)
		return claim.Generator, err
	}
	for _, test := range []struct {
		insert string
		ahead  launchlog.AheadError
		step   func() (int, error)
	}{
		{
			"INSERT INTO idmint_launch (namespace, launch_id, idempotency_key, request_hash, " +
				"service, environment, initiator, host) " +
				"VALUES ('default', 2, 'x', '', '', '', '', '')",
			launchlog.AheadError{Namespace: "default", Number: 2, Next: 2},
			launch,
		},
		{
			"INSERT INTO idmint_generator (namespace, launch_id, generator_id, token, host, pid) " +
				"VALUES ('default', 1, 1, 'x', 'h', 1)",
			launchlog.AheadError{Namespace: "default", Launch: 1, Number: 1, Next: 1},
			claim,
		},
	} {
		want(t, "findings before", findings(), nil)
		exec(test.insert)
		_, err := test.step()
		var ahead *launchlog.AheadError
		if !errors.As(err, &ahead) || *ahead != test.ahead ||
			errors.As(err, new(*launchlog.UnresolvedError)) {
			t.Fatalf("%v, want %v", err, &test.ahead)
		}
		want(t, "findings", findings(), []string{strings.TrimPrefix(ahead.Error(), "launchlog: ")})
		exec(ahead.Mend())
		if number, err := test.step(); err != nil || number != ahead.Number+1 {
			t.Errorf("mended: number %d, %v", number, err)
		}
	}
	want(t, "findings, mended", findings(), nil)
}
