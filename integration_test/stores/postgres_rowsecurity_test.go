package stores_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/idmint/idmint/claims"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/postgres"
	"github.com/idmint/idmint/migrations"
)

// TestPostgresRowSecurity: a role that policies apply to cannot open the log. If a policy comes later,
// a step that does not find what it has just made ends with an error, and makes nothing more.
func TestPostgresRowSecurity(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t, databases.Postgres)
	owner := dbtest.Open(t, d)
	if _, _, err := migrations.Up(t.Context(), owner, migrations.Postgres); err != nil {
		t.Fatal(err)
	}
	source, err := url.Parse(d.Source())
	if err != nil {
		t.Fatal(err)
	}
	role := "r_" + strings.TrimPrefix(source.Path, "/")
	dbtest.Exec(t, owner, "CREATE ROLE "+role+" LOGIN PASSWORD 'r'",
		"GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA public TO "+role,
		"GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO "+role)
	t.Cleanup(func() { dbtest.Exec(t, owner, "DROP OWNED BY "+role, "DROP ROLE "+role) })
	source.User = url.UserPassword(role, "r")

	store, err := postgres.Open(t.Context(), source.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	log, err := launchlog.New(store, nil)
	if err != nil {
		t.Fatal(err)
	}
	counter, err := log.Counter("orders")
	if err != nil {
		t.Fatal(err)
	}
	launch, err := log.Start(t.Context(), launchlog.Request{
		Key: "before", Service: "shop", Environment: "test", Initiator: "ann",
	})
	if err != nil {
		t.Fatal(err)
	}
	nodes, err := claims.Nodes(log, nil)
	if err != nil {
		t.Fatal(err)
	}
	gen, err := generator.NewTrace(nodes, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"counter", "namespace", "launch", "generator"} {
		dbtest.Exec(t, owner,
			"ALTER TABLE idmint_"+table+" ENABLE ROW LEVEL SECURITY",
			"CREATE POLICY hidden ON idmint_"+table+" FOR SELECT TO "+role+" USING (false)",
			"CREATE POLICY made ON idmint_"+table+" FOR INSERT TO "+role+" WITH CHECK (true)",
			"CREATE POLICY changed ON idmint_"+table+" FOR UPDATE TO "+role+" USING (true)")
	}
	raise := launchlog.Raise{To: 1, Note: launchlog.NewNote()}
	for name, step := range map[string]func() error{
		"reserve": func() error { _, err := counter.Reserve(t.Context(), 1, 1); return err },
		"advance": func() error { _, err := counter.Advance(t.Context(), 5, "ann"); return err },
		"raise":   func() error { _, err := counter.Raise(t.Context(), raise); return err },
		"end all": func() error { _, err := log.Advance(t.Context(), 5, "ann"); return err },
		"claims":  func() error { return gen.Ready(t.Context()) },
		"start": func() error {
			_, err := log.Start(t.Context(), launchlog.Request{
				Key: "k", Service: "shop", Environment: "test", Initiator: "ann",
			})
			return err
		},
	} {
		if err := step(); err == nil || !strings.Contains(err.Error(), "row-level security") {
			t.Errorf("%s: %v, want an error that names row-level security", name, err)
		}
	}
	var claimed int // one row, that the source made and could not read
	err = owner.QueryRow("SELECT count(*) FROM idmint_counter WHERE name LIKE 'trace/%'").Scan(&claimed)
	if err != nil || claimed > 1 {
		t.Errorf("claims made %d rows, %v", claimed, err)
	}
	if _, err := log.Claim(t.Context(), launch.ID); !errors.Is(err, launchlog.ErrNotFound) {
		t.Errorf("claim: %v, want that there is no such launch", err)
	}
	if _, err := postgres.Open(t.Context(), source.String()); err == nil ||
		!strings.Contains(err.Error(), "it applies to idmint_counter") {
		t.Errorf("opened: %v", err)
	}
}
