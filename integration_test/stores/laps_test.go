package stores_test

import (
	"database/sql"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/launchlog"
)

// query is the page's query of launches, in the database's own SQL.
func (s server) query(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/" + page)
	check(t, err)
	blocks := regexp.MustCompile("(?s)```sql\n(.*?)```")
	for _, m := range blocks.FindAllStringSubmatch(string(text), -1) {
		if strings.Contains(m[1], "idmint_launch l") {
			if s.kind == mysqlServer.kind {
				return strings.ReplaceAll(m[1], "u.id / ", "u.id DIV ")
			}
			return m[1]
		}
	}
	t.Fatalf("docs/%s has no query of launches", page)
	return ""
}

// The query of docs/sql.md finds the launch of each ID, as Log.Find does. That of docs/restore.md
// finds the launch to advance to, in rows that know more than the log.
func TestQueriesOfLaunches(t *testing.T) {
	eachSQL(t, func(t *testing.T, s server) {
		d := s.database(t)
		l, db := logOf(t, open(t, d)), dbtest.Open(t, d)
		dbtest.Exec(t, db, "CREATE TABLE users (id BIGINT, name VARCHAR(9))")
		check(t, l.SetDigits(ctx, launchlog.Digits{First: 2, Last: 9}))
		store := func(digits, generator int) {
			id, err := idtype.DecimalParts{Counter: 1, Generator: generator, Launch: digits}.ID()
			check(t, err)
			dbtest.Exec(t, db, fmt.Sprintf("INSERT INTO users VALUES (%d, '%d/%d')", id, digits, generator))
		}
		launch := func(n int, outcome launchlog.Outcome) {
			t.Helper()
			started, err := l.Start(ctx, launchlog.Request{
				Key: fmt.Sprint(n), Service: "s", Environment: "e", Initiator: "i", Version: fmt.Sprint(n),
			})
			check(t, err)
			if started.ID != n {
				t.Fatalf("launch %d, want %d", started.ID, n)
			}
			for range 2 {
				claim, err := l.Claim(ctx, n)
				check(t, err)
				store(n%launchlog.Lap, claim.Generator)
				found, err := l.Find(ctx, n%launchlog.Lap, claim.Generator)
				check(t, err)
				var id int
				name := fmt.Sprintf("'%d/%d'", n%launchlog.Lap, claim.Generator)
				err = db.QueryRow(strings.Replace(s.query(t, "sql.md"), "'Ann'", name, 1)).
					Scan(&id, new(any), new(any), new(any))
				if err != nil || id != n || found.ID != n {
					t.Errorf("launch %d has generator number %d, %v; Find: %d", id, claim.Generator, err, found.ID)
				}
			}
			if outcome != "" {
				_, err = l.End(ctx, n, launchlog.Ending{Outcome: outcome})
				check(t, err)
			}
		}
		highest := func(want int64) {
			t.Helper()
			var got sql.NullInt64
			if err := db.QueryRow(s.query(t, "restore.md")).Scan(&got); err != nil || got.Int64 != want {
				t.Errorf("the highest launch is %v, %v, want %d", got, err, want)
			}
		}
		store(1, 5) // of another region
		launch(2, launchlog.Succeeded)
		launch(3, launchlog.Succeeded)
		launch(4, "")
		highest(0)
		store(4, 7) // lost claims of launches 4 and 5
		store(5, 0)
		highest(5)
		if _, err := l.Advance(ctx, 5, "operator"); err != nil {
			t.Fatal(err)
		}
		highest(0)
		launch(6, launchlog.Succeeded)
		launch(7, "")
		store(8, 0)
		highest(8)
		launch(8, launchlog.Succeeded)
		launch(9, launchlog.Succeeded)
		launch(100_002, "")
		store(2, 9)
		highest(0) // it runs
		store(3, 2)
		highest(100_003)
		store(6, 2)
		highest(100_006)
	})
}

// mintInTwo mints in two logs at once, through several laps of their digits, and returns how many IDs
// there are and how many are repeated. Services begin at counter 1, so equal pairs repeat IDs.
func mintInTwo(t *testing.T, eu, us launchlog.Digits) (ids, repeated int64) {
	var seen sync.Map
	var minted, again atomic.Int64
	var wg sync.WaitGroup
	for _, digits := range []launchlog.Digits{eu, us} {
		l := logOf(t, open(t, sqliteFiles.database(t)))
		check(t, l.SetDigits(ctx, digits))
		for worker := range 2 {
			wg.Go(func() {
				for i := range 8 {
					key := fmt.Sprint(worker, "/", i)
					launch, err := l.Start(ctx, launchlog.Request{
						Key: key, Service: key, Environment: "e", Initiator: "i",
					})
					if err != nil {
						t.Error(err)
						return
					}
					numbers := l.Generators(launch.ID)
					for range 3 {
						var batch [5]idtype.DecimalID
						g, err := generator.NewDecimal(numbers)
						if err == nil {
							_, err = g.Fill(ctx, batch[:])
						}
						if err != nil {
							t.Error(err)
						}
						for _, id := range batch {
							minted.Add(1)
							if _, loaded := seen.LoadOrStore(id, true); loaded {
								again.Add(1)
							}
						}
					}
				}
			})
		}
	}
	wg.Wait()
	return minted.Load(), again.Load()
}

// Two logs with digits of their own mint into one key space, and know nothing of each other. With
// ranges that overlap they repeat IDs.
func TestTwoRegions(t *testing.T) {
	t.Parallel()
	if ids, repeated := mintInTwo(t, launchlog.Digits{First: 1, Last: 3},
		launchlog.Digits{First: 4, Last: 5}); ids != 480 || repeated != 0 {
		t.Errorf("%d IDs, %d of them repeated", ids, repeated)
	}
	if _, repeated := mintInTwo(t, launchlog.Digits{First: 1, Last: 3},
		launchlog.Digits{First: 3, Last: 5}); repeated == 0 {
		t.Error("ranges that overlap repeat nothing: the test sees nothing")
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
