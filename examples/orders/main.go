// Command orders is the first of two services that share a database. It accepts orders by HTTP.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idmint/idmint"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/launchlog/postgres"
	"github.com/idmint/idmint/sqlid/pgxid"
)

type OrderID = idtype.Decimal[Order]

type Order struct {
	ID   OrderID `json:"id"`
	Item string  `json:"item"`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) (err error) {
	if os.Getenv("IDMINT_DB") == "" {
		return errors.New("IDMINT_DB is not set: see docs/operate/deployments.md")
	}
	config, err := pgxpool.ParseConfig(os.Getenv("IDMINT_DB"))
	if err != nil {
		return err
	}
	config.AfterConnect = pgxid.AfterConnect // teaches pgx the types of IDs
	postgres.Watch(config.ConnConfig)
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return err
	}
	defer pool.Close()

	store, err := postgres.New(ctx, pool)
	if err != nil {
		return err
	}
	ids, err := idmint.Open(ctx, store, idmint.App{
		Service: "orders", Environment: os.Getenv("APP_ENV"),
	})
	if err != nil {
		return err
	}
	defer func() {
		// The context has ended, but Close must still report to the log how far the IDs have come.
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		err = errors.Join(err, ids.Close(last))
	}()
	orders := idmint.Keys[Order](ids)
	_, err = pool.Exec(ctx, "CREATE TABLE IF NOT EXISTS orders (id bigint PRIMARY KEY CHECK (id > 0), "+
		"item text NOT NULL)")
	if err != nil {
		return err
	}

	mux := http.NewServeMux()
	mux.HandleFunc("POST /orders", func(w http.ResponseWriter, r *http.Request) {
		var order Order
		if err := json.NewDecoder(r.Body).Decode(&order); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		id, err := orders.Next(r.Context())
		if order.ID = id; err == nil {
			_, err = pool.Exec(r.Context(), "INSERT INTO orders VALUES ($1, $2)", id, order.Item)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_ = json.NewEncoder(w).Encode(order)
	})
	server := &http.Server{Addr: "localhost:8080", Handler: mux, ReadHeaderTimeout: time.Minute}
	if addr := os.Getenv("ORDERS_ADDR"); addr != "" {
		server.Addr = addr
	}
	done := make(chan error, 1)
	go func() {
		<-ctx.Done()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		done <- server.Shutdown(ctx)
	}()
	log.Printf("orders serves %s", server.Addr)
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-done
}
