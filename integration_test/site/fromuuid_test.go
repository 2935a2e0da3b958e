package site_test

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/postgres"
	"github.com/idmint/idmint/migrations"
	"github.com/idmint/idmint/sqlid/pgxid"
)

// oldCustomers is how many customers are there before the first step.
const oldCustomers = 3000

// The whole page, with each way back that it has, while apps write.
func TestFromUUID(t *testing.T) {
	t.Parallel()
	source := dbtest.New(t, databases.Postgres).Source()
	r := newRunner(t, source, "customers", "orders")
	blocks := map[string][]pageBlock{}
	for _, b := range readBlocks(t) {
		blocks[b.section[:2]] = append(blocks[b.section[:2]], b)
	}
	s := &uuidShop{
		pool: openPool(t, source), customers: map[string]storedKeys{}, orders: map[uuid.UUID]string{},
	}
	var versions []int // that run
	step := func(step, kind string) {
		t.Helper()
		var apps sync.WaitGroup
		for _, version := range versions {
			apps.Go(func() { s.rounds(t, version) })
		}
		r.run(t, onlyBlock(t, blocks[step], kind))
		apps.Wait()
		for _, version := range versions {
			s.rounds(t, version)
		}
	}
	forth := func(name string) { t.Helper(); step(name, "sql") }
	back := func(name string) { t.Helper(); step(name, "sql undo") }

	forth("Th") // The tables
	fill(t, r.conn)
	files := filenodes(t, r.conn)
	launches := startLaunches(t, source)
	versions = []int{1}
	for _, step := range []string{"1.", "2.", "3."} {
		forth(step)
		back(step)
		forth(step)
	}
	mint(t, r.conn, source, onlyBlock(t, blocks["3."], "sh"))
	var last int64 // of the keys that were minted before version 2
	check(t, r.conn.QueryRow(t.Context(), "SELECT max(key) FROM minted").Scan(&last))

	s.ids = must(generator.NewDecimal(launches.Generators(2)))
	check(t, s.ids.Ready(t.Context()))
	s.rounds(t, 1)
	s.rounds(t, 2) // beside the first
	s.rounds(t, 1)
	versions = []int{2}
	step4 := onlyBlock(t, blocks["4."], "sql")
	cutShort(t, source, r, step4)
	back("4.")
	forth("4.")
	if n := without(t, r.conn); n != 0 {
		t.Fatalf("%d customers have no key", n)
	}
	for _, step := range []string{"5.", "6."} {
		forth(step)
		back(step)
		forth(step)
	}
	forth("7.")
	back("7.") // to the end of step 4
	forth("5.")
	forth("6.")
	forth("7.")
	for range 4 {
		s.rounds(t, 3) // beside the second
		s.rounds(t, 2)
	}
	followed(t, r.conn)
	versions = []int{3}
	forth("8.")

	if got := filenodes(t, r.conn); got != files {
		t.Errorf("a table was written anew: %s, before %s", got, files)
	}
	if r.looked < 60 {
		t.Errorf("the locks of %d statements were compared", r.looked)
	}
	s.audit(t, r.conn, last)
}

// onlyBlock is the text of the one block of its kind.
func onlyBlock(t *testing.T, blocks []pageBlock, kind string) string {
	t.Helper()
	found := ""
	for _, b := range blocks {
		if b.kind == kind {
			found += b.text
		}
	}
	if found == "" {
		t.Fatalf("%+v: no block of %s", blocks, kind)
	}
	return found
}

// fill stores the customers of the years before, each with two orders, and not in their order.
func fill(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	for _, text := range []string{
		`INSERT INTO customers (id, name, created_at)
			SELECT gen_random_uuid(), 'old ' || n, timestamptz '2020-01-01' + n * interval '1 hour'
			FROM generate_series(1, $1::int) n ORDER BY md5(n::text)`,
		`INSERT INTO orders SELECT gen_random_uuid(), id, name
			FROM customers, generate_series(1, 2), (SELECT $1::int) n`,
	} {
		must(conn.Exec(t.Context(), text, oldCustomers))
	}
}

// filenodes name the files of the tables: a table that is written anew gets another.
func filenodes(t *testing.T, conn *pgx.Conn) (files string) {
	t.Helper()
	check(t, conn.QueryRow(t.Context(), `SELECT pg_relation_filepath('customers') || ' ' ||
		pg_relation_filepath('orders')`).Scan(&files))
	return files
}

// startLaunches makes a launch log with launch 1, of the command line, and 2, of the apps.
func startLaunches(t *testing.T, source string) *launchlog.Log {
	t.Helper()
	db := dbtest.OpenSource(t, "pgx", source)
	_, _, err := migrations.Up(t.Context(), db, migrations.Postgres)
	check(t, err)
	store := must(postgres.Open(t.Context(), source))
	t.Cleanup(func() { store.Close() })
	launches := must(launchlog.New(store, nil))
	for _, key := range []string{"a", "b"} {
		must(launches.Start(t.Context(), launchlog.Request{
			Key: key, Service: "shop", Environment: "test", Initiator: "test",
		}))
	}
	return launches
}

// openPool opens the database for apps.
func openPool(t *testing.T, source string) *pgxpool.Pool {
	t.Helper()
	config := must(pgxpool.ParseConfig(source))
	config.AfterConnect = pgxid.AfterConnect
	config.ConnConfig.RuntimeParams["synchronous_commit"] = "off" // which takes most of the time
	pool := must(pgxpool.NewWithConfig(t.Context(), config))
	t.Cleanup(pool.Close)
	return pool
}

// mint runs the page's command, up to its pipe, and stores what it says as psql would.
func mint(t *testing.T, conn *pgx.Conn, source, command string) {
	t.Helper()
	command, copies, found := strings.Cut(command, "|\n")
	if !found || !strings.Contains(copies, `\copy minted FROM STDIN`) {
		t.Fatalf("the page's command is %s", command)
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", command)
	cmd.Env = withIdmint(t, "IDMINT_DB="+source, "IDMINT_LAUNCH_ID=1")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	must(conn.PgConn().CopyFrom(t.Context(), bytes.NewReader(out), "COPY minted FROM STDIN"))
}

// cutShort runs step 4 until a batch meets a row that somebody holds, and gives up there. Whole
// batches are done, and they stay.
func cutShort(t *testing.T, source string, r *runner, step string) {
	t.Helper()
	ctx := t.Context()
	holder := must(r.conn.Begin(ctx))
	defer holder.Rollback(ctx)
	must(holder.Exec(ctx, "SELECT 1 FROM customers WHERE name = 'old 1500' FOR UPDATE"))
	conn := must(pgx.Connect(ctx, source))
	defer conn.Close(ctx)
	err := error(nil)
	for _, s := range pageStatements(step) {
		if call := strings.TrimSpace(s.text); call == "CALL key_customers(1000);" {
			must(conn.Exec(ctx, "SET lock_timeout = '100ms'"))
			_, err = conn.Exec(ctx, "CALL key_customers(70)")
			break
		}
		must(conn.Exec(ctx, s.text))
	}
	if refused := new(pgconn.PgError); !errors.As(err, &refused) || refused.Code != "55P03" {
		t.Fatalf("the call ended with %v", err)
	}
	check(t, holder.Rollback(ctx))
	var done, left int
	check(t, r.conn.QueryRow(ctx, `SELECT (SELECT count(*) FROM customers
		WHERE key <= (SELECT max(key) FROM minted)), (SELECT count(*) FROM minted)`,
	).Scan(&done, &left))
	if want := 1499 / 70 * 70; done != want || left != 4000-want {
		t.Errorf("%d customers have keys and %d keys are left, want %d", done, left, want)
	}
}

// without counts the customers that have no key.
func without(t *testing.T, conn *pgx.Conn) (n int) {
	t.Helper()
	check(t, conn.QueryRow(t.Context(),
		"SELECT count(*) FROM customers WHERE key IS NULL").Scan(&n))
	return n
}

// followed: the two references of an order name one customer.
func followed(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	var all, right int
	check(t, conn.QueryRow(t.Context(), `SELECT count(*), count(c.id) FROM orders o
		LEFT JOIN customers c ON c.id = o.customer_id AND c.key = o.customer_key`,
	).Scan(&all, &right))
	if all != right || all <= 2*oldCustomers {
		t.Errorf("%d of %d orders have two references to one customer", right, all)
	}
}

// audit holds the tables against what apps were told. Old customers have the keys that were minted
// first, in the order of their creation. Customers of the apps with a generator come after them.
func (s *uuidShop) audit(t *testing.T, conn *pgx.Conn, last int64) {
	t.Helper()
	ctx := t.Context()
	type row struct {
		Name string
		Key  customerID
	}
	rows, err := conn.Query(ctx, "SELECT name, key FROM customers ORDER BY key")
	customers := must(pgx.CollectRows(rows, pgx.RowToStructByPos[row]))
	check(t, err)
	keys, names, nthOld := map[customerID]string{}, map[string]customerID{}, 0
	for _, c := range customers {
		if keys[c.Key] != "" || names[c.Name] != 0 {
			t.Errorf("key %d and customer %s are there twice", c.Key, c.Name)
		}
		keys[c.Key], names[c.Name] = c.Name, c.Key
		if strings.HasPrefix(c.Name, "old ") {
			if nthOld++; c.Name != fmt.Sprint("old ", nthOld) {
				t.Fatalf("%s is the old customer number %d", c.Name, nthOld)
			}
		}
		ofGenerator := !strings.HasPrefix(c.Name, "old ") && !strings.HasPrefix(c.Name, "1 ")
		if ofGenerator != (int64(c.Key) > last) || c.Key.Validate() != nil {
			t.Errorf("%s has key %d; the last that was minted before is %d", c.Name, c.Key, last)
		}
	}
	if nthOld != oldCustomers || len(customers) != oldCustomers+len(s.customers) {
		t.Errorf("%d customers, %d of them old", len(customers), nthOld)
	}
	for name, c := range s.customers {
		if key := names[name]; key == 0 || c.key != 0 && c.key != key {
			t.Errorf("customer %s of key %d has %d", name, c.key, key)
		}
	}
	rows, err = conn.Query(ctx, "SELECT id, note, customer_key FROM orders")
	check(t, err)
	count := 0
	var id uuid.UUID
	var note string
	var key customerID
	must(pgx.ForEachRow(rows, []any{&id, &note, &key}, func() error {
		if want, ofApp := s.orders[id]; keys[key] != note || ofApp && want != note {
			t.Errorf("order %s of %s is of %q", id, note, keys[key])
		}
		delete(s.orders, id)
		count++
		return nil
	}))
	if len(s.orders) != 0 || count != 2*len(customers) {
		t.Errorf("%d orders of %d customers, %d are lost", count, len(customers), len(s.orders))
	}
	t.Logf("%d customers, %d orders", len(customers), count)
}
