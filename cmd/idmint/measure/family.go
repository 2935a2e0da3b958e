package measure

import (
	"context"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/idmint/idmint/idtype"
)

// A Family is how long it takes to store a parent with its children, in one transaction, by pgx.
type Family struct {
	Database string `json:"database"`
	Way      string `json:"way"` // WayReturning and so on
	Scheme   string `json:"scheme"`
	Peer     bool   `json:"peer,omitempty"`
	Children int    `json:"children"`
	// DelayMillis is what a round trip waits for in the network, beside what this machine takes.
	DelayMillis float64 `json:"delay_ms"`
	RoundTrips  int     `json:"round_trips"` // as they were counted on the wire
	Rounds      int     `json:"rounds"`
	// Microseconds are the median of the rounds, for one parent with its children.
	Microseconds float64 `json:"microseconds"`
	// Relative is the time as a multiple of that of WayReturning with the same delay: the median of
	// the ratios within each round. Less is faster.
	Relative float64 `json:"relative"`
	Spread   float64 `json:"spread,omitempty"` // half the distance between their quartiles
}

// The ways to store a parent with children.
const (
	// BEGIN, the parent with RETURNING, the children, COMMIT: each waits for the one before, as by
	// most libraries. Keys are [Serial].
	WayReturning = "RETURNING, step by step"
	// The same in two flights: the children wait for the parent's key alone.
	WayTwoFlights = "RETURNING, two flights"
	// One statement stores both: WITH parent AS (INSERT … RETURNING id) INSERT INTO children ….
	WayStatement = "one WITH statement"
	// All statements are sent at once: the app has minted the keys before.
	WayBatch = "one batch, minted keys"
)

// childrenOf is how many children a parent has.
const childrenOf = 5

// A way stores a parent with its children, the key's column of both by the type.
type way struct {
	name   string
	scheme string
	peer   bool
	column string // of the keys
	store  func(ctx context.Context, c *pgx.Conn, t familyTables, keys []any) error
	keys   *IDs // nil: the database gives them
}

// familyTables are the names of two tables.
type familyTables struct{ parents, children string }

// Families measures all ways over a network in which a round trip takes the delay. The ways take
// turns in each round.
func (d *Database) Families(
	ctx context.Context, delay time.Duration, rounds int,
) ([]Family, error) {
	ways, err := d.ways(ctx, (rounds+1)*(1+childrenOf))
	if err != nil {
		return nil, err
	}
	var flights *flightConn
	config := d.pgx.Copy()
	dial := config.DialFunc
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		if delay != 0 {
			c = delayed(c, delay)
		}
		flights = &flightConn{Conn: c}
		return flights, nil
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx))

	tables := make([]familyTables, len(ways))
	for i, w := range ways {
		if tables[i], err = d.familyTables(ctx, w.column); err != nil {
			return nil, err
		}
	}
	took := make([][]float64, len(ways))
	trips := make([]int, len(ways))
	for round := range rounds + 1 { // the first prepares the statements
		for turn := range ways {
			i := (turn + round) % len(ways)
			keys := ways[i].take(round)
			before, began := flights.count(), time.Now()
			if err := ways[i].store(ctx, conn, tables[i], keys); err != nil {
				return nil, fmt.Errorf("%s: %s: %w", d.Name, ways[i].name, err)
			}
			if round > 0 {
				took[i] = append(took[i], float64(time.Since(began).Nanoseconds())/1e3)
				trips[i] = flights.count() - before
			}
		}
	}
	all := make([]Family, len(ways))
	for i, w := range ways {
		ratios := make([]float64, rounds)
		for round := range ratios {
			ratios[round] = took[i][round] / took[0][round]
		}
		all[i] = Family{
			Database: d.Name, Way: w.name, Scheme: w.scheme, Peer: w.peer, Children: childrenOf,
			DelayMillis: float64(delay) / float64(time.Millisecond), RoundTrips: trips[i],
			Rounds: rounds, Microseconds: median(took[i]), Relative: median(ratios),
			Spread: spread(ratios),
		}
		if err := d.check(ctx, tables[i], rounds+1); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", d.Name, w.name, err)
		}
	}
	return all, nil
}

// ways lists them, that of most libraries first, with so many keys for those that are minted.
func (d *Database) ways(ctx context.Context, keys int) ([]way, error) {
	serial := serverColumns[d.Kind][Serial]
	ways := []way{
		{WayReturning, Serial, true, serial, stepByStep, nil},
		{WayTwoFlights, Serial, true, serial, twoFlights, nil},
		{WayStatement, Serial, true, serial, oneStatement, nil},
	}
	for _, k := range []Key{
		Find("decimal", idtype.StorageBigint), Find("UUIDv7", idtype.StorageUUID),
	} {
		ids, err := k.Mint(ctx, Rhythm{IDs: keys, Generators: 1, PerSecond: perSecond})
		if err != nil {
			return nil, err
		}
		ways = append(ways, way{WayBatch, k.Scheme, k.Peer, d.Column(k), oneBatch, ids})
	}
	return ways, nil
}

// take returns the keys of a round: the parent's, and those of its children.
func (w way) take(round int) []any {
	if w.keys == nil {
		return nil
	}
	keys := make([]any, 1+childrenOf)
	for i := range keys {
		key := w.keys.At(round*len(keys) + i)
		if id, ok := key.(uuid.UUID); ok {
			key = [16]byte(id)
		}
		keys[i] = key
	}
	return keys
}

func (d *Database) familyTables(ctx context.Context, column string) (familyTables, error) {
	t := familyTables{d.newTable(), d.newTable()}
	reference, _, _ := strings.Cut(column, " ")
	return t, d.exec(ctx,
		fmt.Sprintf("CREATE TABLE %s (id %s PRIMARY KEY, note text NOT NULL)", t.parents, column),
		fmt.Sprintf("CREATE TABLE %s (id %s PRIMARY KEY, parent_id %s NOT NULL REFERENCES %s, "+
			"note text NOT NULL)", t.children, column, reference, t.parents))
}

// check sees that all were stored, and drops the tables.
func (d *Database) check(ctx context.Context, t familyTables, parents int) error {
	found, err := d.number(ctx, "SELECT count(*) FROM "+t.children+" c JOIN "+t.parents+
		" p ON p.id = c.parent_id")
	if err != nil {
		return err
	}
	if int(found) != parents*childrenOf {
		return fmt.Errorf("%d children have a parent, want %d", found, parents*childrenOf)
	}
	return d.exec(ctx, "DROP TABLE "+t.children, "DROP TABLE "+t.parents)
}

const parentNote, childNote = "a parent", "a child"

func (t familyTables) insertParent() string {
	return "INSERT INTO " + t.parents + " (note) VALUES ($1) RETURNING id"
}

// insertChildren is one INSERT of all children of the parent $1.
func (t familyTables) insertChildren() string {
	return "INSERT INTO " + t.children + " (parent_id, note) VALUES " +
		strings.TrimSuffix(strings.Repeat("($1, $2), ", childrenOf), ", ")
}

func stepByStep(ctx context.Context, c *pgx.Conn, t familyTables, _ []any) error {
	tx, err := c.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(ctx) }() // nothing after a commit
	var id int64
	if err := tx.QueryRow(ctx, t.insertParent(), parentNote).Scan(&id); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, t.insertChildren(), id, childNote); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

func twoFlights(ctx context.Context, c *pgx.Conn, t familyTables, _ []any) error {
	var first, second pgx.Batch
	var id int64
	first.Queue("BEGIN")
	first.Queue(t.insertParent(), parentNote).QueryRow(func(row pgx.Row) error {
		return row.Scan(&id)
	})
	if err := c.SendBatch(ctx, &first).Close(); err != nil {
		return err
	}
	second.Queue(t.insertChildren(), id, childNote)
	second.Queue("COMMIT")
	return c.SendBatch(ctx, &second).Close()
}

func oneStatement(ctx context.Context, c *pgx.Conn, t familyTables, _ []any) error {
	notes := make([]string, childrenOf)
	for i := range notes {
		notes[i] = childNote
	}
	_, err := c.Exec(ctx, "WITH parent AS ("+t.insertParent()+") INSERT INTO "+t.children+
		" (parent_id, note) SELECT parent.id, child FROM parent, unnest($2::text[]) child",
		parentNote, notes)
	return err
}

// oneBatch is one transaction, as every batch of pgx without a BEGIN is.
func oneBatch(ctx context.Context, c *pgx.Conn, t familyTables, keys []any) error {
	var b pgx.Batch
	b.Queue("INSERT INTO "+t.parents+" (id, note) VALUES ($1, $2)", keys[0], parentNote)
	insert := "INSERT INTO " + t.children + " (id, parent_id, note) VALUES "
	args := []any{keys[0], childNote}
	for _, key := range keys[1:] {
		args = append(args, key)
		insert += fmt.Sprintf("($%d, $1, $2), ", len(args))
	}
	b.Queue(strings.TrimSuffix(insert, ", "), args...)
	return c.SendBatch(ctx, &b).Close()
}
