// Command sqlx stores users with minted keys by sqlx, in SQLite or in PostgreSQL. The IDs need no
// adapter: sqlx hands them to database/sql. docs/sql-drivers.md tells of it.
package main

import (
	"context"
	"errors"
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
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) (err error) {
	db, store, dialect, err := open(ctx, os.Getenv("IDMINT_DB"))
	if err != nil {
		return err
	}
	defer db.Close()
	launches, err := launchlog.New(store, nil)
	if err != nil {
		return err
	}
	numbers, err := launches.Join(ctx, launchlog.App{Service: "shop", Environment: "dev"})
	if err != nil {
		return err
	}
	ids, err := generator.NewDecimal(numbers)
	if err != nil {
		return err
	}
	if err := ids.Ready(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ids.Close(ctx)) }()
	keys, err := generator.For[UserID](ids)
	if err != nil {
		return err
	}

	key, err := sqlid.Column[UserID]{Name: "id"}.PrimaryKey(dialect)
	if err != nil {
		return err
	}
	inviter, err := sqlid.Column[UserID]{Name: "invited_by"}.Nullable(dialect)
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS users ("+key+
		", name text NOT NULL, "+inviter+")")
	if err != nil {
		return err
	}

	users := []User{{Name: "Ann"}, {Name: "Bob"}, {Name: "Cem"}}
	minted, err := keys.Many(ctx, len(users))
	if err != nil {
		return err
	}
	for i, id := range minted {
		users[i].ID = id
		if i > 0 {
			users[i].InvitedBy = &users[0].ID
		}
	}
	_, err = db.NamedExecContext(ctx, "INSERT INTO users (id, name, invited_by) "+
		"VALUES (:id, :name, :invited_by)", users)
	if err != nil {
		return err
	}

	var found []User
	query, args, err := sqlx.In("SELECT * FROM users WHERE id IN (?) ORDER BY id",
		[]UserID{users[0].ID, users[2].ID})
	if err != nil {
		return err
	}
	if err := db.SelectContext(ctx, &found, db.Rebind(query), args...); err != nil {
		return err
	}
	for _, u := range found {
		fmt.Println(u.Name, "is", u.ID, "and was invited:", u.InvitedBy != nil)
	}
	if dialect == sqlid.Postgres {
		err := db.SelectContext(ctx, &found, "SELECT * FROM users WHERE id = ANY($1) ORDER BY id",
			[]UserID{users[1].ID})
		if err != nil {
			return err
		}
		fmt.Println(len(found), "by = ANY($1)")
	}
	return nil
}

// open opens the app's database, and the launch log in it, or beside a file of SQLite.
func open(ctx context.Context, name string) (*sqlx.DB, launchlog.Store, sqlid.Dialect, error) {
	if path, ok := strings.CutPrefix(name, "sqlite:"); ok {
		store, err := sqlite.Open(ctx, "launches.db")
		if err != nil {
			return nil, nil, "", err
		}
		db, err := sqlx.Open("sqlite3", sqlite.DSN(path, sqlite.Create))
		return db, store, sqlid.SQLite, err
	}
	config, err := pgx.ParseConfig(name)
	if err != nil {
		return nil, nil, "", err
	}
	store, err := postgres.Open(ctx, name)
	if err != nil {
		return nil, nil, "", err
	}
	pool := stdlib.OpenDB(*config, stdlib.OptionAfterConnect(pgxid.AfterConnect))
	return sqlx.NewDb(pool, "pgx"), store, sqlid.Postgres, nil
}
