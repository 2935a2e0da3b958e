package measure

import (
	"context"
	"errors"
	"fmt"

	"github.com/idmint/idmint/cmd/idmint/dsn"
)

// inspection is what a database was asked for to look into its pages and its cache.
type inspection struct {
	asked bool
	ok    bool // splits are counted, and fullness, by whoever may do so
	// PostgreSQL: the schemas of its extensions, by name
	schemas map[string]string
	// MariaDB: a counter that was switched on, and is to be switched off again
	undo string
}

// extensions come with PostgreSQL, and are made in the place: they go with it.
var extensions = []string{"pg_walinspect", "pgstattuple", "pg_buffercache"}

// splitCounter is InnoDB's, which is off by default.
const splitCounter = "index_page_splits"

// inspectable sees that the database can be looked into, if the user may do so. The error is that
// of the context.
func (d *Database) inspectable(ctx context.Context) error {
	if d.inspect.asked {
		return nil
	}
	d.inspect.asked = true
	var err error
	switch d.Kind {
	case dsn.Postgres:
		err = d.extend(ctx)
	case dsn.MySQL:
		err = d.countInnoDB(ctx)
	default:
		return nil
	}
	d.inspect.ok = err == nil
	return context.Cause(ctx)
}

func (d *Database) extend(ctx context.Context) error {
	d.inspect.schemas = map[string]string{}
	for _, name := range extensions {
		if err := d.exec(ctx, "CREATE EXTENSION IF NOT EXISTS "+name); err != nil {
			return err
		}
		var schema string
		if err := d.db.QueryRowContext(ctx, `SELECT quote_ident(nspname) FROM pg_extension e
			JOIN pg_namespace n ON n.oid = e.extnamespace WHERE extname = $1`, name).
			Scan(&schema); err != nil {
			return err
		}
		d.inspect.schemas[name] = schema
	}
	may, err := d.number(ctx, "SELECT has_function_privilege($1, 'EXECUTE')::int",
		d.inspect.schemas["pg_walinspect"]+".pg_get_wal_stats(pg_lsn, pg_lsn, boolean)")
	if err == nil && may == 0 {
		err = errors.New("the user may not read the log")
	}
	return err
}

func (d *Database) countInnoDB(ctx context.Context) error {
	off, err := d.number(ctx, "SELECT enabled = 0 FROM information_schema.innodb_metrics "+
		"WHERE name = ?", splitCounter)
	if err != nil || off == 0 {
		return err
	}
	if err := d.exec(ctx, "SET GLOBAL innodb_monitor_enable = '"+splitCounter+"'"); err != nil {
		return err
	}
	d.inspect.undo = "SET GLOBAL innodb_monitor_disable = '" + splitCounter + "'"
	return nil
}

// uninspect leaves the server as it was.
func (d *Database) uninspect() error {
	if d.inspect.undo == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), dropTime)
	defer cancel()
	return d.exec(ctx, d.inspect.undo)
}

// countSplits adds the splits since the last checkpoint.
func (w *written) countSplits(ctx context.Context) (err error) {
	d := w.d
	switch {
	case !d.inspect.ok:
		return nil
	case d.Kind == dsn.MySQL:
		w.splits, err = d.number(ctx,
			"SELECT `count` FROM information_schema.innodb_metrics WHERE name = ?", splitCounter)
		return err
	case w.log == 0: // nothing was written yet
		return nil
	}
	n, err := d.number(ctx, fmt.Sprintf(`SELECT coalesce(sum("count"), 0)::bigint
		FROM %s.pg_get_wal_stats('0/0'::pg_lsn + $1, pg_current_wal_flush_lsn(), true)
		WHERE "resource_manager/record_type" IN ('Btree/SPLIT_L', 'Btree/SPLIT_R')`,
		d.inspect.schemas["pg_walinspect"]), w.log)
	var refused interface{ SQLState() string }
	const undefinedFile = "58P01"
	if errors.As(err, &refused) && refused.SQLState() == undefinedFile {
		w.others++ // one that removed the log since ours
		return nil
	}
	w.splits += n
	return err
}

// leafFill is how full the leaf pages of the key's index are, in percent, or 0 where nobody tells.
func (d *Database) leafFill(ctx context.Context, table string) (percent float64, err error) {
	if d.Kind != dsn.Postgres || !d.inspect.ok {
		return 0, nil
	}
	query := fmt.Sprintf("SELECT avg_leaf_density FROM %s.pgstatindex('%s_pkey')",
		d.inspect.schemas["pgstattuple"], table)
	if err := d.db.QueryRowContext(ctx, query).Scan(&percent); err != nil {
		return 0, fmt.Errorf("%s: %s: %w", d.Name, query, err)
	}
	return percent, nil
}

// evict empties PostgreSQL's cache of a table and its index. It reports whether it can.
func (d *Database) evict(ctx context.Context, table string) (bool, error) {
	if d.Kind != dsn.Postgres || !d.inspect.ok {
		return false, nil
	}
	schema := d.inspect.schemas["pg_buffercache"]
	evicts, err := d.number(ctx,
		"SELECT count(*) FROM pg_proc WHERE proname = 'pg_buffercache_evict'") // from 17 on
	if err != nil || evicts == 0 {
		return false, err
	}
	_, err = d.number(ctx, fmt.Sprintf(`SELECT count(e) FROM %[1]s.pg_buffercache b,
		LATERAL %[1]s.pg_buffercache_evict(b.bufferid) e
		WHERE b.relfilenode IN (pg_relation_filenode('%[2]s'), pg_relation_filenode('%[2]s_pkey'))
		AND b.reldatabase = (SELECT oid FROM pg_database WHERE datname = current_database())`,
		schema, table))
	return err == nil, err
}

// A cacheWatch counts the blocks of a table's index that inserts ask for.
type cacheWatch struct {
	d      *Database // nil: it cannot
	table  string
	before Cold
}

// emptyCache empties the cache of a table before so many rows, and watches it from then on, if it
// can.
func (d *Database) emptyCache(ctx context.Context, table string, rows int) (*cacheWatch, error) {
	w := &cacheWatch{table: table, before: Cold{Rows: rows}}
	can, err := d.evict(ctx, table)
	if err != nil || !can {
		return w, err
	}
	w.d = d
	return w, w.read(ctx, &w.before)
}

// cold is what was asked for from then on, or nil.
func (w *cacheWatch) cold(ctx context.Context) (*Cold, error) {
	if w.d == nil {
		return nil, nil
	}
	var now Cold
	err := w.read(ctx, &now)
	return &Cold{
		Rows: w.before.Rows, Hits: now.Hits - w.before.Hits, Read: now.Read - w.before.Read,
	}, err
}

func (w *cacheWatch) read(ctx context.Context, to *Cold) error {
	if err := w.d.exec(ctx, "SELECT pg_stat_force_next_flush()"); err != nil {
		return err
	}
	query := "SELECT idx_blks_hit, idx_blks_read FROM pg_statio_user_tables WHERE relid = '" +
		w.table + "'::regclass"
	if err := w.d.db.QueryRowContext(ctx, query).Scan(&to.Hits, &to.Read); err != nil {
		return fmt.Errorf("%s: %s: %w", w.d.Name, query, err)
	}
	return nil
}
