// Package migrators runs many migrators at once, each in a process of its own, as an app's
// processes do at their first boot.
package migrators

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os/exec"
	"testing"
	"time"

	"github.com/idmint/idmint/internal/subprocess"
	"github.com/idmint/idmint/migrations"
)

// Work is called by TestMain: it migrates in a process that [Command] made, and ends that.
func Work() {
	subprocess.Work(map[string]func([]string) error{"migrate": func(args []string) error {
		db, err := sql.Open(args[0], args[1])
		if err != nil {
			return err
		}
		d := migrations.Dialect(args[2])
		_, to, err := migrations.Up(context.Background(), db, d)
		if err == nil && to != migrations.Latest(d) {
			err = fmt.Errorf("at version %d", to)
		}
		return errors.Join(err, db.Close())
	}})
}

// Command is a process that migrates the database that a driver of database/sql knows as source.
func Command(driver, source string, d migrations.Dialect) *exec.Cmd {
	return subprocess.Command("migrate", driver, source, string(d))
}

// Many has 32 processes migrate an empty database at once, which db is as well.
func Many(t *testing.T, db *sql.DB, driver, source string, d migrations.Dialect) {
	t.Helper()
	began := time.Now()
	var all []*exec.Cmd
	for range 32 {
		cmd := Command(driver, source, d)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, cmd)
	}
	for i, cmd := range all {
		if err := cmd.Wait(); err != nil {
			t.Errorf("migrator %d: %v", i, err)
		}
	}
	var rows int
	err := db.QueryRow("SELECT count(*) FROM idmint_schema").Scan(&rows)
	if err != nil || rows != migrations.Latest(d) {
		t.Errorf("%d versions recorded, %v", rows, err)
	}
	t.Logf("32 migrators at once: %v", time.Since(began).Round(time.Millisecond))
}
