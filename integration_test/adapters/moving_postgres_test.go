package adapters_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/sqlid"
	"github.com/idmint/idmint/sqlid/pgxid"
)

// widen is what docs/move/postgresql-apps.md does to tables with keys of 32 bits.
const widen = `
ALTER TABLE jobs ALTER COLUMN user_id TYPE bigint;
ALTER TABLE users ALTER COLUMN id TYPE bigint, ALTER COLUMN id DROP DEFAULT;
ALTER TABLE jobs ALTER COLUMN id TYPE bigint, ALTER COLUMN id DROP DEFAULT;
DROP SEQUENCE users_id_seq, jobs_id_seq;
`

type (
	Job   struct{ ID JobID }
	JobID = idtype.Decimal[Job]
)

// jobsAfter returns jobs behind a cursor. That of the first page is none, and goes as 0.
func jobsAfter(ctx context.Context, pool *pgxpool.Pool, after idtype.OrZero[JobID]) ([]JobID, error) {
	rows, err := pool.Query(ctx, "SELECT id FROM jobs WHERE id > $1 ORDER BY id LIMIT 100", after)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[JobID])
}

// lastJob returns the last job, or none.
func lastJob(ctx context.Context, pool *pgxpool.Pool) (last idtype.OrZero[JobID], err error) {
	err = pool.QueryRow(ctx, "SELECT coalesce(max(id), 0) FROM jobs").Scan(&last)
	return last, err
}

// jobsOf returns the jobs of a user, or with NULL those of all users.
func jobsOf(ctx context.Context, pool *pgxpool.Pool, user sqlid.Null[UserID]) ([]JobID, error) {
	rows, err := pool.Query(ctx,
		"SELECT id FROM jobs WHERE $1::bigint IS NULL OR user_id = $1 ORDER BY id", user)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[JobID])
}

// Tables of serial keys, empty and full, become tables of minted keys, and programs that meant none
// by 0 go on to.
func TestMovingPostgreSQL(t *testing.T) {
	t.Parallel()
	for _, full := range []bool{false, true} {
		t.Run(fmt.Sprintf("full %v", full), func(t *testing.T) {
			ctx := t.Context()
			d := dbtest.New(t, databases.Postgres)
			db := dbtest.Open(t, d)
			dbtest.Exec(t, db, "CREATE TABLE users (id serial PRIMARY KEY, name text)",
				"CREATE TABLE jobs (id serial PRIMARY KEY, user_id int NOT NULL REFERENCES users)")
			if full {
				dbtest.Exec(t, db, "INSERT INTO users (name) VALUES ('Ann'), ('Bob')",
					"INSERT INTO jobs (user_id) VALUES (1), (2)")
			}
			dbtest.Exec(t, db, widen)
			config := must(pgxpool.ParseConfig(d.Source()))
			config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
				_, err := conn.Exec(ctx, "SET application_name = 'jobs'")
				return err
			}
			config.AfterConnect = pgxid.After(config.AfterConnect)
			pool := must(pgxpool.NewWithConfig(ctx, config))
			defer pool.Close()
			var name string
			try(t, pool.QueryRow(ctx, "SHOW application_name").Scan(&name))
			if name != "jobs" {
				t.Errorf("the pool's own hook is lost: %q", name)
			}

			var want []JobID
			if full {
				want = []JobID{1, 2}
			}
			last, err := lastJob(ctx, pool)
			if err != nil || last.IsZero() == full {
				t.Errorf("last job %v, %v", last, err)
			}
			user, job := UserID(annID), JobID(annID+1e10)
			must(pool.Exec(ctx, "INSERT INTO users VALUES ($1, 'Cid')", user))
			must(pool.Exec(ctx, "INSERT INTO jobs VALUES ($1, $2)", job, user))
			if _, err := pool.Exec(ctx, "INSERT INTO users (name) VALUES ('raw')"); err == nil {
				t.Error("the database still numbers rows")
			}
			want = append(want, job)
			all, err := jobsAfter(ctx, pool, idtype.OrZero[JobID]{})
			some, err2 := jobsOf(ctx, pool, sqlid.Null[UserID]{})
			if err := errors.Join(err, err2); err != nil || fmt.Sprint(all) != fmt.Sprint(want) ||
				fmt.Sprint(some) != fmt.Sprint(want) {
				t.Errorf("%v and %v, %v, want %v", all, some, err, want)
			}
			// A plain key that is zero finds nothing, loudly.
			_, err = pool.Exec(ctx, "SELECT FROM users WHERE id = $1", UserID(0))
			if !errors.Is(err, idtype.ErrZero) {
				t.Errorf("a look-up of 0: %v", err)
			}
		})
	}
}
