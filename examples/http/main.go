// Command http is a small service whose users have decimal IDs, which it uses in paths, in JSON and
// in query parameters. It stores users in the file shop.db, and the launch log in launches.db.
// docs/use/http.md describes it.
package main

import (
	"context"
	"database/sql"
	"errors"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/idmint/idmint"
	"github.com/idmint/idmint/launchlog/sqlite"
	"github.com/idmint/idmint/sqlid"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}

// run serves requests until ctx ends. Running requests then have ten seconds to finish.
func run(ctx context.Context) (err error) {
	store, err := sqlite.OpenOrCreate(ctx, "launches.db")
	if err != nil {
		return err
	}
	defer store.Close()
	ids, err := idmint.Open(ctx, store, idmint.App{Service: "shop"})
	if err != nil {
		return err
	}
	defer func() {
		// The context has ended, but Close must still report to the log how far the IDs have come.
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		err = errors.Join(err, ids.Close(last))
	}()
	db, err := openDB(ctx)
	if err != nil {
		return err
	}
	defer db.Close()

	address := os.Getenv("ADDRESS")
	if address == "" {
		address = "127.0.0.1:8080"
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler: (&service{db, ids}).routes(), ReadHeaderTimeout: 5 * time.Second,
	}
	log.Printf("listening on http://%s", listener.Addr())
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	var failed error
	select {
	case failed = <-served:
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return errors.Join(failed, server.Shutdown(last))
}

func openDB(ctx context.Context) (*sql.DB, error) {
	key, err := sqlid.Column[UserID]{Name: "id"}.PrimaryKey(sqlid.SQLite)
	if err != nil {
		return nil, err
	}
	inviter, err := sqlid.Column[UserID]{Name: "invited_by"}.Nullable(sqlid.SQLite)
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite3", sqlite.DSN("shop.db", sqlite.Create))
	if err != nil {
		return nil, err
	}
	_, err = db.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS users ("+key+", name TEXT NOT NULL, "+
		inviter+" REFERENCES users (id), created_at INTEGER NOT NULL) WITHOUT ROWID; "+
		"CREATE INDEX IF NOT EXISTS users_by_creation ON users (created_at, id)")
	return db, err
}
