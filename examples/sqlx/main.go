// Command sqlx stores users with minted keys by sqlx, in SQLite or in PostgreSQL. The IDs need no
// adapter: sqlx hands them to database/sql. docs/sql-drivers.md tells of it.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/jmoiron/sqlx"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/postgres"
	"github.com/idmint/idmint/launchlog/sqlite"
	"github.com/idmint/idmint/sqlid"
	"github.com/idmint/idmint/sqlid/pgxid"
)

type UserID = idtype.Decimal[User]

type User struct {
	ID        UserID  `db:"id"`
	Name      string  `db:"name"`
	InvitedBy *UserID `db:"invited_by"`
}

func main() {
	ctx := context.Background()
	db, store, dialect := open(ctx, os.Getenv("IDMINT_DB"))
	defer db.Close()
	launches := must(launchlog.New(store, nil))
	numbers := must(launches.Join(ctx, launchlog.App{Service: "shop", Environment: "dev"}))
	ids := must(generator.NewDecimal(numbers))
	check(ids.Ready(ctx))
	defer ids.Close(ctx)
	keys := must(generator.For[UserID](ids))

	key := must(sqlid.Column[UserID]{Name: "id"}.PrimaryKey(dialect))
	inviter := must(sqlid.Column[UserID]{Name: "invited_by"}.Nullable(dialect))
	must(db.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS users ("+key+", name text NOT NULL, "+inviter+")"))

	users := []User{{Name: "Ann"}, {Name: "Bob"}, {Name: "Cem"}}
	for i, id := range must(keys.Many(ctx, len(users))) {
		users[i].ID = id
		if i > 0 {
			users[i].InvitedBy = &users[0].ID
		}
	}
	must(db.NamedExecContext(ctx, "INSERT INTO users (id, name, invited_by) VALUES (:id, :name, :invited_by)", users))

	var found []User
	query, args, err := sqlx.In("SELECT * FROM users WHERE id IN (?) ORDER BY id", []UserID{users[0].ID, users[2].ID})
	check(err)
	check(db.SelectContext(ctx, &found, db.Rebind(query), args...))
	for _, u := range found {
		fmt.Println(u.Name, "is", u.ID, "and was invited:", u.InvitedBy != nil)
	}
	if dialect == sqlid.Postgres {
		check(db.SelectContext(ctx, &found, "SELECT * FROM users WHERE id = ANY($1) ORDER BY id", []UserID{users[1].ID}))
		fmt.Println(len(found), "by = ANY($1)")
	}
}

// open opens the app's database, and the launch log in it.
func open(ctx context.Context, db string) (*sqlx.DB, launchlog.Store, sqlid.Dialect) {
	if path, ok := strings.CutPrefix(db, "sqlite:"); ok {
		return must(sqlx.Open("sqlite3", sqlite.DSN(path, sqlite.Existing))), must(sqlite.Open(ctx, path)), sqlid.SQLite
	}
	config := must(pgx.ParseConfig(db))
	pool := stdlib.OpenDB(*config, stdlib.OptionAfterConnect(pgxid.AfterConnect))
	return sqlx.NewDb(pool, "pgx"), must(postgres.Open(ctx, db)), sqlid.Postgres
}

func must[T any](v T, err error) T {
	check(err)
	return v
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
