package site_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
)

type (
	customer   struct{}
	customerID = idtype.Decimal[customer]
)

// uuidShop is what apps were told is stored.
type uuidShop struct {
	pool *pgxpool.Pool
	ids  *generator.Decimal

	mu        sync.Mutex
	customers map[string]storedKeys // by name
	orders    map[uuid.UUID]string  // the name of the customer that each is of
}

// storedKeys are a customer's keys, as far as the app that stored it knew them.
type storedKeys struct {
	id  uuid.UUID
	key customerID
}

// rounds are those of an app of a version: each stores a customer and two orders, changes some, and
// reads them.
func (s *uuidShop) rounds(t *testing.T, version int) {
	for range 5 {
		if err := s.round(t.Context(), version, fmt.Sprint(version, " ", uuid.NewString())); err != nil {
			t.Errorf("version %d: %v", version, err)
		}
	}
}

func (s *uuidShop) round(ctx context.Context, version int, name string) error {
	to := storedKeys{id: uuid.New()}
	if version > 1 {
		key, err := s.ids.Next(ctx)
		if err != nil {
			return err
		}
		to.key = customerID(key)
	}
	orders := []uuid.UUID{uuid.New(), uuid.New()}
	if err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		return s.store(ctx, tx, version, name, to, orders)
	}); err != nil {
		return err
	}
	other, otherName := s.another(version, to, name) // it gets the second order
	if err := s.move(ctx, version, orders[1], other, otherName); err != nil {
		return err
	}
	s.mu.Lock()
	if version == 3 {
		to.id = uuid.Nil // the database made one
	}
	s.customers[name] = to
	s.orders[orders[0]], s.orders[orders[1]] = name, otherName
	s.mu.Unlock()
	return s.look(ctx, version, name, to, orders[0])
}

// another is a customer that is there, by a key that the version knows, or else the one given.
func (s *uuidShop) another(version int, to storedKeys, name string) (storedKeys, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for otherName, other := range s.customers {
		if version == 3 && other.key != 0 || version < 3 && other.id != uuid.Nil {
			return other, otherName
		}
	}
	return to, name
}

func (s *uuidShop) store(
	ctx context.Context, tx pgx.Tx, version int, name string, to storedKeys, orders []uuid.UUID,
) error {
	var batch pgx.Batch
	var of any = to.id
	order := "INSERT INTO orders (id, customer_id, note) VALUES ($1, $2, $3)"
	switch version {
	case 1:
		batch.Queue("INSERT INTO customers (id, name) VALUES ($1, $2)", to.id, name)
	case 2:
		batch.Queue("INSERT INTO customers (id, key, name) VALUES ($1, $2, $3)", to.id, to.key, name)
	case 3:
		batch.Queue("INSERT INTO customers (key, name) VALUES ($1, $2)", to.key, name)
		order, of = "INSERT INTO orders (id, customer_key, note) VALUES ($1, $2, $3)", to.key
	}
	for _, id := range orders {
		batch.Queue(order, id, of, name)
	}
	return tx.SendBatch(ctx, &batch).Close()
}

// move gives an order to another customer, and touches that one.
func (s *uuidShop) move(
	ctx context.Context, version int, order uuid.UUID, to storedKeys, name string,
) error {
	move, touch := "UPDATE orders SET customer_id = $2, note = $3 WHERE id = $1",
		"UPDATE customers SET name = name WHERE id = $1"
	var by any = to.id
	if version == 3 {
		move, touch = "UPDATE orders SET customer_key = $2, note = $3 WHERE id = $1",
			"UPDATE customers SET name = name WHERE key = $1"
		by = to.key
	}
	for _, update := range [][]any{{move, order, by, name}, {touch, by}} {
		tag, err := s.pool.Exec(ctx, update[0].(string), update[1:]...)
		if err != nil {
			return err
		}
		if tag.RowsAffected() != 1 {
			return fmt.Errorf("%v: the row is lost", update)
		}
	}
	return nil
}

// look reads what a round stored, by each key that the version knows.
func (s *uuidShop) look(
	ctx context.Context, version int, name string, to storedKeys, order uuid.UUID,
) error {
	const ofOrder = "SELECT name FROM customers c JOIN orders o ON "
	reads := map[string]any{}
	if version < 3 {
		reads["SELECT name FROM customers WHERE id = $1"] = to.id
		reads[ofOrder+"o.customer_id = c.id WHERE o.id = $1"] = order
	}
	if version > 1 {
		reads["SELECT name FROM customers WHERE key = $1"] = to.key
	}
	if version > 2 {
		reads[ofOrder+"o.customer_key = c.key WHERE o.id = $1"] = order
	}
	for query, arg := range reads {
		var got string
		if err := s.pool.QueryRow(ctx, query, arg).Scan(&got); err != nil {
			return fmt.Errorf("%s: %w", query, err)
		}
		if got != name {
			return fmt.Errorf("%s: %q, want %q", query, got, name)
		}
	}
	return nil
}
