package stores_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/idmint/idmint"
	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/internal/dialect"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/storetest"
	"github.com/idmint/idmint/migrations"
)

var grant = regexp.MustCompile(`(?m)^GRANT .* ON shop\.\S+ TO (\w+)@'%';$`)

// granted makes a user, and gives it the grants that docs/operate/mysql.md lists for the roles.
func granted(t *testing.T, d dsn.DSN, roles ...string) dsn.DSN {
	t.Helper()
	page, err := os.ReadFile("../../docs/operate/mysql.md")
	if err != nil {
		t.Fatal(err)
	}
	admin := dbtest.Open(t, d)
	user := d.Database()[:20] + "_" + strings.Join(roles, "_")
	dbtest.Exec(t, admin, "CREATE USER "+user+"@'%' IDENTIFIED BY 'app'")
	t.Cleanup(func() { dbtest.Exec(t, admin, "DROP USER "+user+"@'%'") })
	found := 0
	for _, m := range grant.FindAllStringSubmatch(string(page), -1) {
		if slices.Contains(roles, m[1]) {
			found++
			dbtest.Exec(t, admin, strings.NewReplacer(" ON shop.", " ON "+d.Database()+".",
				" TO "+m[1]+"@", " TO "+user+"@").Replace(strings.TrimSuffix(m[0], ";")))
		}
	}
	if found == 0 {
		t.Fatalf("the page grants %v nothing", roles)
	}
	return as(t, d, user)
}

// isDenied reports whether the server says that the user lacks a right.
func isDenied(err error) bool {
	// On a command, on a table, on a column.
	return slices.Contains([]string{"1044", "1142", "1143"}, dialect.MySQLNumber(err))
}

// Each role of the page can do what it is for, by its grants alone, and nothing else that writes.
func TestGrants(t *testing.T) {
	t.Parallel()
	launches := []string{
		"StartLaunch", "StartLaunch, another namespace", "EndLaunch", "AdvanceLaunches",
		"StartLaunch, a key that is there", "Order",
	}
	numbers := []string{
		"ClaimGenerator", "RaiseCounter", "ReserveNumbers", "ReserveNumbers, a new counter",
		"AdvanceCounter", "StartLaunch, a key that is there", "Order",
	}
	for _, test := range []struct {
		roles, can []string
		may        []string // what the page says that the role can change by hand
	}{
		{[]string{"pipeline"}, launches, []string{
			"UPDATE idmint_namespace SET last_launch_id = 1",
			"UPDATE idmint_launch SET ended_at = NULL, outcome = NULL WHERE launch_id = 1",
		}},
		{[]string{"app"}, numbers, []string{
			"UPDATE idmint_launch SET next_generator_id = 0 WHERE launch_id = 1",
			"UPDATE idmint_counter SET value = value - 1",
		}},
		{[]string{"reader"}, nil, nil},
		{[]string{"pipeline", "trimmer"}, append(launches, "TrimClaims"), nil},
		{[]string{"pipeline", "app"}, slices.Concat(numbers, launches), nil},
	} {
		t.Run(strings.Join(test.roles, "+"), func(t *testing.T) {
			t.Parallel()
			d := mysqlServer.database(t)
			admin := open(t, d)
			if err := start(ctx, admin, "a"); err != nil {
				t.Fatal(err)
			}
			if _, err := admin.ReserveNumbers(ctx, aCounter, 0, 10); err != nil {
				t.Fatal(err)
			}
			s := open(t, granted(t, d, test.roles...))
			writes := storetest.Writes(s)
			for _, name := range slices.Concat(numbers, launches, []string{"TrimClaims"}) {
				err := writes[name]()
				if can := slices.Contains(test.can, name); can && err != nil ||
					!can && !isDenied(err) {
					t.Errorf("%s: %v", name, err)
				}
			}
			reads(t, s)
			if slices.Contains(test.roles, "app") { // which joins a launch by its own rights alone
				starts := idmint.App{Service: "shop", Deployment: "new"}
				ids, err := idmint.Open(ctx, s, starts)
				if err != nil && (len(test.roles) > 1 || !isDenied(err)) ||
					err == nil && (len(test.roles) == 1 || ids.Close(ctx) != nil) {
					t.Errorf("%v starts a launch: %v", test.roles, err)
				}
				if _, err := idmint.Open(ctx, admin, starts); err != nil {
					t.Fatal(err)
				}
				if ids, err = idmint.Open(ctx, s, starts); err != nil || ids.Close(ctx) != nil {
					t.Errorf("%v joins a launch: %v", test.roles, err)
				}
			}
			if len(test.roles) == 1 {
				byHand(t, test.roles[0], test.may)
			}
		})
	}
}

// reads makes every call that only reads.
func reads(t *testing.T, s launchlog.Store) {
	t.Helper()
	for name, read := range map[string]func() error{
		"Launch": func() error { _, err := s.Launch(ctx, firstLaunch); return err },
		"Launches": func() error {
			_, err := s.Launches(ctx, "default", launchlog.Filter{Limit: 1})
			return err
		},
		"Events":     func() error { _, err := s.Events(ctx, firstLaunch); return err },
		"Claims":     func() error { _, err := s.Claims(ctx, firstLaunch, 0, 9); return err },
		"Counters":   func() error { _, err := s.Counters(ctx, "default", "", 9); return err },
		"LastNumber": func() error { _, err := s.LastNumber(ctx, aCounter); return err },
		"Now":        func() error { _, err := s.Now(ctx); return err },
	} {
		if err := read(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// byHand runs statements that change what was acknowledged. The server refuses to the role all but
// those that it may run.
func byHand(t *testing.T, role string, may []string) {
	t.Helper()
	d := mysqlServer.filled(t)
	admin := dbtest.Open(t, d)
	db := dbtest.Open(t, granted(t, d, role))
	before := dump(t, admin)
	for _, text := range append(mysqlServer.changing(),
		"DELETE FROM idmint_schema", "UPDATE idmint_schema SET word = ''",
		"INSERT INTO idmint_schema (version) VALUES (99)",
		"INSERT INTO idmint_namespace (namespace, last_launch_id) VALUES ('late', 99999)",
		"DROP TABLE idmint_generator",
		"ALTER TABLE idmint_launch DROP PRIMARY KEY",
		"CREATE TRIGGER mine BEFORE DELETE ON idmint_launch FOR EACH ROW SET @x = 1",
	) {
		_, err := db.Exec(text)
		if slices.Contains(may, text) {
			if err != nil {
				t.Errorf("%s: %v", text, err)
			}
			before = dump(t, admin)
			continue
		}
		if err == nil {
			t.Errorf("%s is carried out", text)
		}
		if after := dump(t, admin); after != before {
			t.Fatalf("%s: before\n%s\nafter\n%s", text, before, after)
		}
	}
}

// Keys, checks and foreign keys refuse numbers that are rows already or out of range, and TRUNCATE,
// even to a user that may do everything.
func TestMySQLKeys(t *testing.T) {
	t.Parallel()
	db := dbtest.Open(t, mysqlServer.filled(t))
	before := dump(t, db)
	tried := 0
	for _, text := range mysqlServer.changing() {
		verb, _, _ := strings.Cut(text, " ")
		if verb != "TRUNCATE" && (verb != "INSERT" || strings.Contains(text, "ON DUPLICATE")) {
			continue
		}
		tried++
		if _, err := db.Exec(text); err == nil {
			t.Errorf("%s is carried out", text)
		}
		if after := dump(t, db); after != before {
			t.Fatalf("%s: before\n%s\nafter\n%s", text, before, after)
		}
	}
	if tried < 16 {
		t.Errorf("%d statements, want more", tried)
	}
}

// The migrator's grants lead to the latest version. To go back it needs those that the page adds.
func TestMigratorGrants(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t, databases.MariaDB)
	named := granted(t, d, "migrator")
	db := dbtest.Open(t, named)
	if _, _, err := migrations.Up(ctx, db, migrations.MySQL); err != nil {
		t.Fatal(err)
	}
	if err := migrations.Down(ctx, db, migrations.MySQL, 0); !isDenied(err) {
		t.Errorf("down: %v, want it denied", err)
	}
	page, err := os.ReadFile("../../docs/operate/mysql.md")
	if err != nil {
		t.Fatal(err)
	}
	more := regexp.MustCompile("back, `migrator` also needs `([A-Z, ]+)`").FindSubmatch(page)
	if more == nil {
		t.Fatal("the page does not say what Down needs")
	}
	user := d.Database()[:20] + "_migrator@'%'"
	dbtest.Exec(t, dbtest.Open(t, d), "GRANT "+string(more[1])+" ON "+d.Database()+".* TO "+user)
	if err := migrations.Down(ctx, dbtest.Open(t, named), migrations.MySQL, 0); err != nil {
		t.Errorf("down: %v", err)
	}
}
