package measure

import (
	"context"
	"fmt"

	"github.com/idmint/idmint/cmd/idmint/dsn"
)

// A Footprint is what rows of an ID and a number take in a database that keeps rows. It also tells
// what was written to store them. They were stored in transactions of a thousand rows, with a
// checkpoint after every tenth of all. PostgreSQL got them by INSERT of many rows: COPY would write
// less, but not for a default that is volatile, as uuidv7() is.
type Footprint struct {
	Database string `json:"database"`
	Scheme   string `json:"scheme"`
	Storage  string `json:"storage"`
	Peer     bool   `json:"peer,omitempty"`
	Column   string `json:"column"`
	Writing
	Rows int `json:"rows"`
	// KeyBytes is the size of the primary key's index. In MariaDB and SQLite that is the table
	// itself; in MariaDB, its leaf pages.
	KeyBytes   int64 `json:"key_bytes"`
	TableBytes int64 `json:"table_bytes"` // with its indexes
	LogBytes   int64 `json:"log_bytes"`   // written to the log: WAL, redo log
	// written to the table's and the index's files; in SQLite to the WAL
	Pages int64 `json:"pages"`
	// Unknown says why LogBytes and Pages are not known, where the user may not do what it takes.
	Unknown string `json:"unknown,omitempty"`

	// Splits are the pages of B-trees that were split in two, of PostgreSQL and MariaDB. A key that
	// ascends splits the last page alone, once for each page.
	Splits *int64 `json:"splits,omitempty"`
	// LeafFill is how full the leaf pages of the key's index are, in percent, of PostgreSQL.
	LeafFill float64 `json:"leaf_fill,omitempty"`
	// Cold is what the last tenth of the rows found in PostgreSQL's cache, which was empty before.
	Cold *Cold `json:"cold,omitempty"`
}

// Cold counts the blocks of the key's index that inserts asked for, beginning with an empty cache.
type Cold struct {
	Rows int   `json:"rows"`
	Hits int64 `json:"hits"`  // found in the cache
	Read int64 `json:"reads"` // not found there
}

// Writing is who makes the keys of a table.
type Writing struct {
	// ByServer: the database gives the key, by a counter of its own or by a function. The rows come
	// by one connection.
	ByServer bool `json:"by_server,omitempty"`
	// Writers are the generators that mint at once. It is 1 where keys are alike for any number.
	Writers int `json:"writers"`
	// Deployments come one after another, each with generators of its own. Only of decimal IDs.
	Deployments int `json:"deployments"`
	// Apart: decimal generators begin at 1 each, and do not move up to each other. Otherwise they
	// go through the launch log, and keep in step.
	Apart bool `json:"apart,omitempty"`
}

const (
	rowsPerCommit = 1_000
	checkpoints   = 10
)

// footprintTries are how often a table is filled that checkpoints of others disturb.
const footprintTries = 3

// Footprint mints IDs, stores them in order of arrival, and measures. Whatever else the server does
// meanwhile counts as written and as split. PostgreSQL writes whole pages to the log after each
// checkpoint. Where one came that is not ours, the table is filled anew.
func (d *Database) Footprint(ctx context.Context, k Key, r Rhythm) (Footprint, error) {
	minted, err := k.Mint(ctx, r)
	if err != nil {
		return Footprint{}, err
	}
	for try := 1; ; try++ {
		f, others, err := d.footprint(ctx, k, r, minted)
		if err != nil || others == 0 {
			return f, err
		}
		if try == footprintTries {
			f.Unknown = fmt.Sprintf("checkpoints that are not ours came in between, in each of %d "+
				"tries", try)
			f.LogBytes, f.Pages, f.Splits = 0, 0, nil
			return f, nil
		}
	}
}

// footprint is one try. It also tells how many checkpoints of others came in between.
func (d *Database) footprint(
	ctx context.Context, k Key, r Rhythm, minted *IDs,
) (_ Footprint, others int64, err error) {
	table, err := d.create(ctx, d.Column(k))
	if err != nil {
		return Footprint{}, 0, err
	}
	f := Footprint{
		Database: d.Name, Scheme: k.Scheme, Storage: string(k.Storage), Peer: k.Peer,
		Column: d.Column(k), Writing: k.writing(r), Rows: r.IDs,
	}
	if err := d.inspectable(ctx); err != nil {
		return Footprint{}, 0, err
	}
	w := written{d: d, table: table}
	if err := w.checkpoint(ctx); err != nil {
		if ctx.Err() != nil {
			return Footprint{}, 0, err
		}
		f.Unknown = err.Error()
	}
	begin := w
	tenth := max(1, (r.IDs+checkpoints-1)/checkpoints)
	var cache *cacheWatch
	for done := 0; done < r.IDs; {
		if cache == nil && done+tenth >= r.IDs {
			if cache, err = d.emptyCache(ctx, table, r.IDs-done); err != nil {
				return Footprint{}, 0, err
			}
		}
		next := min(done+rowsPerCommit, r.IDs, done-done%tenth+tenth)
		by := paths[d.Kind][len(paths[d.Kind])-1]
		if err := d.insert(ctx, by, table, minted.rows(upTo(done, next))); err != nil {
			return Footprint{}, 0, err
		}
		if done = next; f.Unknown == "" && (done%tenth == 0 || done == r.IDs) {
			if err := w.checkpoint(ctx); err != nil {
				return Footprint{}, 0, err
			}
		}
	}
	f.LogBytes, f.Pages = w.log-begin.log, w.pages-begin.pages
	others = w.others - begin.others
	if d.inspect.ok && f.Unknown == "" {
		splits := w.splits - begin.splits
		f.Splits = &splits
	}
	if f.Cold, err = cache.cold(ctx); err != nil {
		return Footprint{}, 0, err
	}
	if f.LeafFill, err = d.leafFill(ctx, table); err != nil {
		return Footprint{}, 0, err
	}
	if f.KeyBytes, f.TableBytes, err = d.size(ctx, table); err != nil {
		return Footprint{}, 0, err
	}
	return f, others, d.exec(ctx, "DROP TABLE "+table)
}

// writing is who makes the keys of a rhythm.
func (k Key) writing(r Rhythm) Writing {
	w := Writing{
		ByServer: k.byServer, Writers: r.Generators, Deployments: max(r.Deployments, 1),
		Apart: r.Apart,
	}
	if k.Alike() {
		w.Writers = 1
	}
	return w
}

// written is how much the server has written.
type written struct {
	d          *Database
	table      string
	log, pages int64
	splits     int64
	checkpointCount
}

// checkpoint sees that what was changed is in the files of the table, and reads how much was
// written up to then.
func (w *written) checkpoint(ctx context.Context) (err error) {
	d := w.d
	switch d.Kind {
	case dsn.SQLite:
		// Pages are copied from the WAL, which then begins anew. Its second number is how many
		// there were.
		var busy, frames, copied, page int64
		if err := d.db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)").Scan(&busy, &frames,
			&copied); err != nil {
			return err
		}
		if err := d.exec(ctx, "PRAGMA wal_autocheckpoint = 0"); err != nil { // from now on
			return err
		}
		if page, err = d.number(ctx, "PRAGMA page_size"); err != nil {
			return err
		}
		const header = 24 // of a frame
		w.pages += frames
		w.log += frames * (page + header)
		return d.db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames,
			&copied)
	case dsn.Postgres:
		if err := w.countSplits(ctx); err != nil { // before the log may be removed
			return err
		}
		if err := w.begin(ctx, d); err != nil {
			return err
		}
		if err := d.exec(ctx, "CHECKPOINT"); err != nil {
			return err
		}
		if err := w.ours(ctx, d); err != nil {
			return err
		}
		// Where the next record goes. What was written may end in the zeros after a switch of files,
		// where nobody finds a record.
		if w.log, err = d.number(ctx,
			"SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint"); err != nil {
			return err
		}
		w.pages, err = d.number(ctx,
			"SELECT sum(writes)::bigint FROM pg_stat_io WHERE object = 'relation'")
		return err
	default:
		if err := d.exec(ctx, "FLUSH TABLES "+w.table+" FOR EXPORT", "UNLOCK TABLES"); err != nil {
			return err
		}
		if err := w.countSplits(ctx); err != nil {
			return err
		}
		const status = "SELECT CAST(variable_value AS SIGNED) FROM " +
			"information_schema.global_status WHERE variable_name = "
		if w.log, err = d.number(ctx, status+"'INNODB_OS_LOG_WRITTEN'"); err != nil {
			return err
		}
		w.pages, err = d.number(ctx, status+"'INNODB_PAGES_WRITTEN'")
		return err
	}
}

// size is that of the primary key's index, and of the table with its indexes.
func (d *Database) size(ctx context.Context, table string) (key, whole int64, err error) {
	switch d.Kind {
	case dsn.SQLite:
		var page, pages, free int64
		for to, pragma := range map[*int64]string{
			&page: "page_size", &pages: "page_count",
			&free: "freelist_count",
		} {
			if *to, err = d.number(ctx, "PRAGMA "+pragma); err != nil {
				return 0, 0, err
			}
		}
		whole = (pages - free - 1) * page // the first page is the schema's
		return whole, whole, nil
	case dsn.Postgres:
		if key, err = d.number(ctx,
			fmt.Sprintf("SELECT pg_relation_size('%s_pkey')", table)); err != nil {
			return 0, 0, err
		}
		whole, err = d.number(ctx, fmt.Sprintf("SELECT pg_total_relation_size('%s')", table))
		return key, whole, err
	default:
		if err := d.exec(ctx, "ANALYZE TABLE "+table); err != nil {
			return 0, 0, err
		}
		whole, err = d.number(ctx,
			"SELECT data_length + index_length FROM information_schema.tables WHERE table_schema "+
				"= DATABASE() AND table_name = ?", table)
		if err != nil {
			return 0, 0, err
		}
		// The table's size is what is reserved for it, in steps of a megabyte.
		key, err = d.number(ctx,
			`SELECT stat_value * @@innodb_page_size FROM mysql.innodb_index_stats
			WHERE database_name = DATABASE() AND table_name = ? AND index_name = 'PRIMARY' AND stat_name = 'n_leaf_pages'`, table)
		if err != nil && ctx.Err() == nil { // not every user may read it
			key, err = whole, nil
		}
		return key, whole, err
	}
}
