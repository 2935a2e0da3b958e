// Package generators_test has processes write rows at once, and runs the simulation of fleets that
// claim their numbers for long.
package generators_test

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/internal/subprocess"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/postgres"
	"github.com/idmint/idmint/launchlog/storetest"
	"github.com/idmint/idmint/migrations"
)

func TestMain(m *testing.M) {
	subprocess.Work(map[string]func([]string) error{"writer": writer})
	dbtest.Main(m)
}

// writer is a process that writes so many rows of decimal IDs, at random moments. Beside each it
// writes one whose key the database gives. It prints the first ID, and a line for each row.
func writer(args []string) error {
	const pause = 4 * time.Millisecond // on the average
	ctx := context.Background()
	launch, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	rows, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	store, err := postgres.Open(ctx, args[0])
	if err != nil {
		return err
	}
	defer store.Close()
	log, err := launchlog.New(store, nil)
	if err != nil {
		return err
	}
	g, err := generator.NewDecimal(log.Generators(launch))
	if err != nil {
		return err
	}
	db, err := sql.Open("pgx", args[0])
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for next, i := time.Now(), 0; i < rows; i++ {
		time.Sleep(time.Until(next))
		id, err := g.Next(ctx)
		if err != nil {
			return err
		}
		const insert = "INSERT INTO ours VALUES ($1, $2)"
		if _, err := db.Exec(insert, int64(id), time.Now().UnixNano()); err != nil {
			return err
		}
		if _, err := db.Exec("INSERT INTO theirs DEFAULT VALUES"); err != nil {
			return err
		}
		fmt.Println(id)
		next = next.Add(time.Duration(rand.ExpFloat64() * float64(pause)))
	}
	return g.Close(ctx)
}

// TestWriters: four processes write at once, and each begins when the one before has written some.
// It begins above its rows, and the index of the key is as small as that of an identity column.
func TestWriters(t *testing.T) {
	const processes, rows, late = 4, 2500, 750
	d := dbtest.New(t, databases.Postgres)
	db := dbtest.Open(t, d)
	if _, _, err := migrations.Up(t.Context(), db, migrations.Postgres); err != nil {
		t.Fatal(err)
	}
	dbtest.Exec(t, db, "CREATE TABLE ours (id bigint PRIMARY KEY, minted bigint NOT NULL)",
		"CREATE TABLE theirs (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY)")
	launch := launchIn(t, d.Source())
	var running []*exec.Cmd
	for i := range processes {
		cmd := subprocess.Command("writer", d.Source(), strconv.Itoa(launch), strconv.Itoa(rows))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		running = append(running, cmd)
		lines := bufio.NewScanner(out)
		for n := 0; n < late && lines.Scan(); n++ {
			if n > 0 {
				continue
			}
			if first := idtype.MustParse[idtype.DecimalID](lines.Text()); (first.Parts().Counter == 1) != (i == 0) {
				t.Errorf("process %d begins with %v", i, first)
			}
		}
		go func() {
			for lines.Scan() { // nothing waits for a reader
			}
		}()
	}
	for _, cmd := range running {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	// How much older the oldest of the rows above it is, for each row.
	query := `WITH highest AS (
		SELECT minted, minted - min(minted) OVER (ORDER BY id DESC) AS age FROM ours)
		SELECT count(*), (max(minted) - min(minted)) / 1e9, max(age) / 1e9,
			avg((age > 0)::int) * 100, avg((age > 1e8)::int) * 100, avg((age > 1e9)::int) * 100
		FROM highest`
	var n int
	var took, longest, any, tenth, second float64
	if err := db.QueryRow(query).Scan(&n, &took, &longest, &any, &tenth, &second); err != nil {
		t.Fatal(err)
	}
	var ours, theirs float64
	if err := db.QueryRow(`SELECT pg_relation_size('ours_pkey'), pg_relation_size('theirs_pkey')`).
		Scan(&ours, &theirs); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d rows of %d processes within %.0f s: below a row that is older, %.1f %%; older by "+
		"0.1 s, %.2f %%; by 1 s, %.2f %%; the longest %.2f s. The index: %.1f bytes a row, of an "+
		"identity column %.1f", n, processes, took, any, tenth, second, longest, ours/float64(n),
		theirs/float64(n))
	if n != processes*rows || any == 0 {
		t.Errorf("%d rows, %v %% of them below an older one", n, any)
	}
	if ours > 1.5*theirs {
		t.Errorf("the index of an identity column takes %.0f bytes, and ours %.0f", theirs, ours)
	}
}

// launchIn starts a launch in a database's log.
func launchIn(t *testing.T, source string) int {
	t.Helper()
	store, err := postgres.Open(t.Context(), source)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	log, err := launchlog.New(store, nil)
	if err != nil {
		t.Fatal(err)
	}
	launch, err := log.Start(t.Context(), storetest.Request(launchlog.NewNote()))
	if err != nil {
		t.Fatal(err)
	}
	return launch.ID
}

// TestWholeFleet runs 10,000 of the simulated fleets of package claims, whose own test runs some.
func TestWholeFleet(t *testing.T) {
	cmd := exec.Command("go", "test", "-v", "-timeout=60m", "-run=^TestWholeFleet$",
		"github.com/idmint/idmint/claims", "-fleet.seeds=10000")
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
}
