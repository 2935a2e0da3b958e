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

// An app stores customers and orders until it is ended. Its version is that of the page's table.
type uuidApp struct {
	end  func()
	may  chan struct{} // the rounds that it may do: else the quicker one would fill the database
	done chan struct{} // one for each round
	gone chan struct{}
}

// mostRounds is how many rounds an app does before it waits for the test's next step.
const mostRounds = 15

// deploy starts an app.
func (s *uuidShop) deploy(t *testing.T, version int) *uuidApp {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	a := &uuidApp{
		may: make(chan struct{}, mostRounds), done: make(chan struct{}, mostRounds),
		gone: make(chan struct{}),
	}
	go func() {
		defer close(a.gone)
		for {
			select {
			case <-a.may:
			case <-ctx.Done():
				return
			}
			name := fmt.Sprintf("%d %s", version, uuid.NewString())
			if err := s.round(t.Context(), version, name); err != nil {
				t.Errorf("version %d: %v", version, err)
				cancel()
			}
			select {
			case a.done <- struct{}{}:
			default: // nobody waits
			}
		}
	}()
	a.end = func() {
		cancel()
		<-a.gone
	}
	t.Cleanup(a.end)
	return a
}

// goOn lets the app do more rounds. It does some while the test goes on.
func (a *uuidApp) goOn() {
	for {
		select {
		case a.may <- struct{}{}:
		default:
			return
		}
	}
}

// rounds waits until the app has done some more.
func (a *uuidApp) rounds(t *testing.T, n int) {
	t.Helper()
	for len(a.done) > 0 { // those of before
		<-a.done
	}
	for range n {
		a.goOn()
		select {
		case <-a.done:
		case <-a.gone:
			t.Fatal("an app has ended")
		}
	}
}

// round stores a customer and two orders, changes some, and reads them.
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
	var err error
	switch version {
	case 1:
		_, err = tx.Exec(ctx, "INSERT INTO customers (id, name) VALUES ($1, $2)", to.id, name)
	case 2:
		_, err = tx.Exec(ctx, "INSERT INTO customers (id, key, name) VALUES ($1, $2, $3)",
			to.id, to.key, name)
	case 3:
		_, err = tx.Exec(ctx, "INSERT INTO customers (key, name) VALUES ($1, $2)", to.key, name)
	}
	for _, order := range orders {
		if err == nil && version < 3 {
			_, err = tx.Exec(ctx, "INSERT INTO orders (id, customer_id, note) VALUES ($1, $2, $3)",
				order, to.id, name)
		} else if err == nil {
			_, err = tx.Exec(ctx, "INSERT INTO orders (id, customer_key, note) VALUES ($1, $2, $3)",
				order, to.key, name)
		}
	}
	return err
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
	tag, err := s.pool.Exec(ctx, move, order, by, name)
	if err == nil && tag.RowsAffected() != 1 {
		return fmt.Errorf("order %s is lost", order)
	}
	if err == nil {
		tag, err = s.pool.Exec(ctx, touch, by)
	}
	if err == nil && tag.RowsAffected() != 1 {
		return fmt.Errorf("customer %v is lost", by)
	}
	return err
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
