package site_test

import (
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
)

// The SQL of docs/move/from-uuid.md and of docs/move/from-bigserial.md runs on PostgreSQL, while apps write.

// A pageBlock is a code block of the page.
type pageBlock struct {
	section string
	kind    string // the language and what stands behind it
	text    string
}

// readBlocks returns the page's code blocks, in their order.
func readBlocks(t *testing.T) (blocks []pageBlock) {
	t.Helper()
	section := ""
	parts := regexp.MustCompile("(?ms)^## (.*?)$|^```([a-z -]+)\n(.*?)^```$")
	for _, m := range parts.FindAllStringSubmatch(read(t, "docs/move/from-uuid.md")+read(t, "docs/move/from-bigserial.md"), -1) {
		if m[1] != "" {
			section = m[1]
			continue
		}
		blocks = append(blocks, pageBlock{section, m[2], m[3]})
	}
	if len(blocks) < 20 {
		t.Fatalf("%d blocks", len(blocks))
	}
	return blocks
}

// A pageStatement is one of a block, with the locks that the comment above it names, by table.
type pageStatement struct {
	text  string
	locks map[string]string
}

var documentedLock = regexp.MustCompile(`(\w+): ([A-Z ]+[A-Z])`)

// statements takes a block apart. A body between $$ is part of its statement.
func pageStatements(text string) (all []pageStatement) {
	s := pageStatement{}
	inBody := false
	for line := range strings.Lines(text) {
		if comment, ok := strings.CutPrefix(line, "-- "); ok && s.text == "" {
			s.locks = map[string]string{}
			for _, m := range documentedLock.FindAllStringSubmatch(comment, -1) {
				s.locks[m[1]] = m[2]
			}
			continue
		}
		s.text += line
		if strings.Count(line, "$$") == 1 {
			inBody = !inBody
		}
		if !inBody && strings.HasSuffix(line, ";\n") {
			all = append(all, s)
			s = pageStatement{}
		}
	}
	return all
}

// A runner runs blocks, and compares locks with what the page says of them.
type runner struct {
	conn   *pgx.Conn
	tables []string
	looked int // statements whose locks were compared
}

func newRunner(t *testing.T, source string, tables ...string) *runner {
	t.Helper()
	config := must(pgx.ParseConfig(source))
	config.RuntimeParams["synchronous_commit"] = "off"
	// So that a scan is one of the table, by this connection, and is counted.
	config.RuntimeParams["enable_indexscan"] = "off"
	config.RuntimeParams["enable_indexonlyscan"] = "off"
	config.RuntimeParams["enable_bitmapscan"] = "off"
	config.RuntimeParams["max_parallel_workers_per_gather"] = "0"
	conn := must(pgx.ConnectConfig(t.Context(), config))
	t.Cleanup(func() { conn.Close(t.Context()) })
	return &runner{conn: conn, tables: tables}
}

// run runs the statements of a block as the page says: again where one did not get its lock.
func (r *runner) run(t *testing.T, text string) {
	t.Helper()
	var group []pageStatement // a transaction of the page's own
	for _, s := range pageStatements(text) {
		switch {
		case s.text == "BEGIN;\n":
			group = []pageStatement{s}
		case group != nil && s.text == "COMMIT;\n":
			r.retry(t, group[1:])
			group = nil
		case group != nil:
			group = append(group, s)
		case strings.HasPrefix(s.text, "SET "), strings.Contains(s.text, "CONCURRENTLY"),
			strings.HasPrefix(s.text, "CALL "):
			must(r.conn.Exec(t.Context(), s.text))
		default:
			r.retry(t, []pageStatement{s})
		}
	}
	if group != nil {
		t.Fatalf("no COMMIT: %s", text)
	}
}

// retry runs statements in a transaction until they get their locks.
func (r *runner) retry(t *testing.T, all []pageStatement) {
	t.Helper()
	for {
		err := r.transaction(t, all)
		var refused *pgconn.PgError
		switch {
		case err == nil:
			return
		case errors.As(err, &refused) && refused.Code == "55P03": // lock_not_available
		default:
			t.Fatalf("%s: %v", all[0].text, err)
		}
	}
}

func (r *runner) transaction(t *testing.T, all []pageStatement) error {
	t.Helper()
	tx, err := r.conn.Begin(t.Context())
	if err != nil {
		return err
	}
	defer tx.Rollback(t.Context())
	want := map[string]string{}
	// Tables that are dropped or made later are asked for by the ones that are there.
	tables := r.oids(t, tx)
	before := map[uint32]int{}
	for oid := range tables {
		before[oid] = scans(t, tx, oid)
	}
	for _, s := range all {
		if _, err := tx.Exec(t.Context(), s.text); err != nil {
			return err
		}
		maps.Copy(want, s.locks)
	}
	if len(tables) == len(r.tables) {
		r.compare(t, tx, tables, before, want, all)
	}
	return tx.Commit(t.Context())
}

// oids are the tables that are there, by their OIDs.
func (r *runner) oids(t *testing.T, tx pgx.Tx) map[uint32]string {
	t.Helper()
	found := map[uint32]string{}
	rows := must(tx.Query(t.Context(),
		"SELECT oid, relname FROM pg_class WHERE relkind = 'r' AND relname = ANY($1)", r.tables))
	var oid uint32
	var name string
	must(pgx.ForEachRow(rows, []any{&oid, &name}, func() error {
		found[oid] = name
		return nil
	}))
	return found
}

// scans counts the scans of a table by this connection. Others are not counted.
func scans(t *testing.T, tx pgx.Tx, oid uint32) (n int) {
	t.Helper()
	check(t, tx.QueryRow(t.Context(), "SELECT pg_stat_get_xact_numscans($1)", oid).Scan(&n))
	return n
}

// modes are PostgreSQL's locks of tables, the weakest first, as pg_locks names them.
var modes = []string{
	"AccessShareLock", "RowShareLock", "RowExclusiveLock", "ShareUpdateExclusiveLock", "ShareLock",
	"ShareRowExclusiveLock", "ExclusiveLock", "AccessExclusiveLock",
}

// inWords is a mode as SQL has it.
func inWords(mode string) string {
	words := regexp.MustCompile(`[A-Z][a-z]+`).FindAllString(strings.TrimSuffix(mode, "Lock"), -1)
	return strings.ToUpper(strings.Join(words, " "))
}

// compare holds what the page says of a transaction's locks against pg_locks. A transaction with a
// lock that keeps writers waiting has scanned neither table.
func (r *runner) compare(
	t *testing.T, tx pgx.Tx, tables map[uint32]string, before map[uint32]int,
	want map[string]string, all []pageStatement,
) {
	t.Helper()
	got := map[string]string{}
	for oid, table := range tables {
		var held []string
		check(t, tx.QueryRow(t.Context(), `SELECT array_agg(mode) FROM pg_locks
			WHERE pid = pg_backend_pid() AND relation = $1 AND granted`, oid).Scan(&held))
		if len(held) == 0 {
			continue
		}
		strongest := slices.MaxFunc(held, func(a, b string) int {
			return slices.Index(modes, a) - slices.Index(modes, b)
		})
		got[table] = inWords(strongest)
		scans := scans(t, tx, oid) - before[oid]
		blocks := slices.Index(modes, strongest) > slices.Index(modes, "ShareUpdateExclusiveLock")
		if blocks && scans != 0 {
			t.Errorf("%s: %d scans of %s with %s", all[0].text, scans, table, got[table])
		}
		if strings.Contains(all[0].text, "VALIDATE") && strongest == "ShareUpdateExclusiveLock" &&
			scans == 0 {
			t.Errorf("%s: no scan of %s is seen, so the test shows nothing", all[0].text, table)
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("%s: locks %v, and the page says %v", all[0].text, got, want)
	}
	r.looked++
}

// From bigserial: both versions of the app write beside each other.
func TestFromBigserial(t *testing.T) {
	t.Parallel()
	source := dbtest.New(t, databases.Postgres).Source()
	r := newRunner(t, source, "tickets")
	launches := startLaunches(t, source)
	ids := must(generator.NewDecimal(launches.Generators(1)))
	ctx := t.Context()
	check(t, ids.Ready(ctx))
	var steps []string
	undo := ""
	for _, b := range readBlocks(t) {
		switch b.kind {
		case "sql bigserial":
			steps = append(steps, b.text)
		case "sql bigserial-undo":
			undo = b.text
		}
	}
	if len(steps) != 4 || undo == "" {
		t.Fatalf("%q, %q", steps, undo)
	}
	insert := func(text string, args ...any) error {
		_, err := r.conn.Exec(ctx, text, args...)
		return err
	}
	const byDefault = "INSERT INTO tickets (title) VALUES ('old')"
	minted := func() {
		t.Helper()
		key := must(ids.Next(ctx))
		check(t, insert("INSERT INTO tickets (id, title) VALUES ($1, 'new')", int64(key)))
	}
	r.run(t, steps[0])
	check(t, insert("INSERT INTO tickets (title) SELECT 'old' FROM generate_series(1, 100)"))
	r.run(t, steps[1])
	for range 100 {
		check(t, insert(byDefault))
		minted()
	}
	r.run(t, steps[2])
	minted()
	if err := insert(byDefault); err == nil || !strings.Contains(err.Error(), "23502") {
		t.Errorf("a forgotten key: %v", err)
	}
	r.run(t, undo)
	check(t, insert(byDefault))
	minted()
	check(t, insert("SELECT setval('tickets_id_seq', 9999999999)"))
	if err := insert(byDefault); err == nil || !strings.Contains(err.Error(), "2200H") {
		t.Errorf("the sequence went on: %v", err)
	}
	r.run(t, steps[2])
	r.run(t, steps[3])
	minted()
	var below, above int
	check(t, r.conn.QueryRow(ctx, `SELECT
		count(*) FILTER (WHERE id < 10000000000 AND title = 'old'),
		count(*) FILTER (WHERE id > 10000000000 AND title = 'new') FROM tickets`,
	).Scan(&below, &above))
	if below != 201 || above != 103 {
		t.Errorf("%d old tickets, %d new ones", below, above)
	}
}
