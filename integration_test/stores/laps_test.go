package stores_test

import (
	"database/sql"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/launchlog"
)

// started starts the launch of a key, for a service of its own.
func started(t *testing.T, l *launchlog.Log, key int) int {
	k := fmt.Sprint(key)
	r := launchlog.Request{Key: k, Service: k, Environment: "e", Initiator: "i"}
	launch, err := l.Start(ctx, r)
	check(t, err)
	return launch.ID
}

// The query of docs/reference/sql.md finds the launch of each ID. That of docs/operate/restore.md finds the launch to
// advance to, in rows that know more than the log.
func TestQueriesOfLaunches(t *testing.T) {
	eachSQL(t, func(t *testing.T, s server) {
		d := s.database(t)
		l, db := logOf(t, open(t, d)), dbtest.Open(t, d)
		asked := func(page, name string) int64 {
			text, err := os.ReadFile("../../docs/" + page)
			check(t, err)
			of := regexp.MustCompile("(?s)```sql\n([^`]* idmint_launch l\\s.*?)```").FindSubmatch(text)
			query := strings.Replace(string(of[1]), "'Ann'", "'"+name+"'", 1)
			query = strings.Replace(query, ", l.service, l.version, l.initiator", "", 1)
			if s.kind == mysqlServer.kind {
				query = strings.ReplaceAll(query, "u.id / ", "u.id DIV ")
			}
			var launch sql.NullInt64
			check(t, db.QueryRow(query).Scan(&launch))
			return launch.Int64
		}
		dbtest.Exec(t, db, "CREATE TABLE users (id BIGINT, name VARCHAR(11))")
		check(t, l.SetDigits(ctx, launchlog.Digits{First: 2, Last: 9}))
		store := func(digits, generator int) string {
			id := fmt.Sprintf("1%05d%05d", generator, digits)
			dbtest.Exec(t, db, "INSERT INTO users VALUES ("+id+", '"+id+"')")
			return id
		}
		launch := func(n int, ends bool) {
			t.Helper()
			started(t, l, n)
			claim, err := l.Claim(ctx, n)
			check(t, err)
			name := store(n%launchlog.Lap, claim.Generator)
			if id := asked("reference/sql.md", name); id != int64(n) {
				t.Errorf("launch of %s: %d, want %d", name, id, n)
			}
			if ends {
				_, err = l.End(ctx, n, launchlog.Ending{Outcome: launchlog.Succeeded})
				check(t, err)
			}
		}
		highest := func(want int64) {
			t.Helper()
			if got := asked("operate/restore.md", ""); got != want {
				t.Errorf("the highest launch is %d, want %d", got, want)
			}
		}
		store(1, 5) // of another region
		launch(2, true)
		launch(3, true)
		launch(4, false)
		highest(0)
		store(4, 7) // lost claims of launches 4 and 5
		store(5, 0)
		highest(5)
		_, err := l.Advance(ctx, 5, "operator")
		check(t, err)
		for n := 6; n <= 9; n++ {
			launch(n, n != 7)
		}
		launch(100_002, false)
		store(2, 9)
		highest(0) // it runs
		store(6, 2)
		highest(100_006)
	})
}

// Two logs with digits of their own mint into one key space, through several laps. With ranges that
// overlap they repeat IDs at once, because a new service begins at counter 1.
func TestTwoRegions(t *testing.T) {
	t.Parallel()
	for overlap, first := range map[bool]int{false: 4, true: 3} {
		const launches, ids = 8, 5
		seen := map[idtype.DecimalID]bool{}
		for _, digits := range []launchlog.Digits{{First: 1, Last: 3}, {First: first, Last: 5}} {
			l := logOf(t, open(t, sqliteFiles.database(t)))
			check(t, l.SetDigits(ctx, digits))
			for key := range launches {
				g, err := generator.NewDecimal(l.Generators(started(t, l, key)))
				check(t, err)
				for range ids {
					id, err := g.Next(ctx)
					check(t, err)
					seen[id] = true
				}
			}
		}
		if (len(seen) < 2*launches*ids) != overlap {
			t.Errorf("second digits from %d on: %d different IDs", first, len(seen))
		}
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
