package doctor

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/idmint/idmint/launchlog/checks"
)

var postgres = engine{
	place: func(_ context.Context, db *database) (string, error) {
		return cmp.Or(db.schema, "public"), nil
	},
	server: []checks.Probe[*database]{
		{Code: "writable", Look: postgresWritable},
		{Code: "postgres.version", Look: postgresVersion},
		setting("postgres.fsync", checks.Finding, `SELECT current_setting('fsync')`, "fsync is %s",
			"on"),
		setting("postgres.full_page_writes", checks.Finding,
			`SELECT current_setting('full_page_writes')`, "full_page_writes is %s", "on"),
		{Code: "postgres.standbys", Look: postgresStandbys},
		setting("postgres.checksums", checks.Note, `SELECT current_setting('data_checksums')`,
			"data_checksums is %s", "on"),
	},
	content: []checks.Probe[*database]{
		{Code: "tables", Look: postgresTables},
		{Code: "triggers", Look: postgresTriggers},
		{Code: "rights", Look: postgresRights},
		{Code: "rows", Look: fittingRows},
		{Code: "rows", Look: postgresEvents},
	},
	identity: postgresIdentity,
}

// postgresEvents compares the events with their sequence, which logical replication leaves out. If
// the role may not see the sequence, the check reports nothing.
func postgresEvents(ctx context.Context, db *database, r *checks.Reporter) error {
	events := db.dialect.Quote(db.schema) + ".idmint_launch_event" // as the log names it
	var highest, last int64
	err := db.one(ctx, `SELECT (SELECT coalesce(max(event_id), 0) FROM `+events+`),
		coalesce((SELECT last_value FROM pg_sequences
			WHERE format('%I.%I', schemaname, sequencename) =
				pg_get_serial_sequence($1, 'event_id')), 9223372036854775807)`,
		[]any{events}, &highest, &last)
	if err == nil && last < highest {
		r.Finding("rows do not fit together: event %d exists, but the sequence is at %d. Run: "+
			"SELECT setval(pg_get_serial_sequence('%s', 'event_id'), max(event_id)) FROM %[3]s",
			highest, last, events)
	}
	return err
}

func postgresWritable(ctx context.Context, db *database, r *checks.Reporter) error {
	var standby bool
	var readOnly string
	err := db.one(ctx, `SELECT pg_is_in_recovery(),
		current_setting('default_transaction_read_only')`, nil, &standby, &readOnly)
	switch {
	case err != nil:
		return err
	case standby:
		r.Finding("the server is a standby: the log can be read, but cannot hand out numbers")
	case readOnly == "on":
		r.Finding("default_transaction_read_only is on: the log cannot hand out numbers")
	}
	r.Pass("the server is not a standby, and accepts writes")
	return nil
}

func postgresVersion(ctx context.Context, db *database, r *checks.Reporter) error {
	var number int
	var name string
	err := db.one(ctx, `SELECT current_setting('server_version_num')::int,
		current_setting('server_version')`, nil, &number, &name)
	if err == nil && number < 12_00_00 {
		r.Finding("PostgreSQL %s is older than 12", name)
	}
	r.Pass("PostgreSQL %s", name)
	return err
}

// postgresStandbys counts the connected standbys, which are visible even to a role that may not see
// their state.
func postgresStandbys(ctx context.Context, db *database, r *checks.Reporter) error {
	var names string
	var connected, synchronous, hidden int
	err := db.one(ctx, `SELECT current_setting('synchronous_standby_names'), count(pid),
		count(pid) FILTER (WHERE sync_state IN ('sync', 'quorum')),
		count(pid) FILTER (WHERE sync_state IS NULL)
		FROM pg_stat_replication`, nil, &names, &connected, &synchronous, &hidden)
	switch {
	case err != nil:
		return err
	case names == "" && connected > 0:
		r.Note("%d standbys are connected, and none is synchronous", connected)
	case names != "" && synchronous == 0 && hidden > 0:
		r.Unknown("the role cannot see whether any of %d standbys is synchronous: it needs "+
			"pg_monitor", hidden)
	case names != "" && synchronous == 0:
		r.Finding("synchronous_standby_names is %q, and none of them is connected: commits wait",
			names)
	}
	r.Pass("%d standbys are connected, %d of them synchronous", connected, synchronous)
	return nil
}

func postgresTables(ctx context.Context, db *database, r *checks.Reporter) error {
	const there = `SELECT c.relname::text FROM pg_catalog.pg_class c
		JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
		WHERE n.nspname = $1 AND c.relkind IN ('r', 'p')`
	if err := db.all(ctx, r, "table", there, db.schema); err != nil {
		return err
	}
	unlogged, err := db.list(ctx, there+`
		AND c.relpersistence = 'u' AND c.relname LIKE 'idmint\_%'`, db.schema)
	if len(unlogged) > 0 {
		r.Finding("tables are UNLOGGED, so a crash empties them: %s", first(unlogged))
	}
	r.Pass("all tables exist, and are logged")
	return err
}

func postgresTriggers(ctx context.Context, db *database, r *checks.Reporter) error {
	const there = `SELECT t.tgname::text FROM pg_catalog.pg_trigger t
		JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid
		JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
		WHERE n.nspname = $1 AND NOT t.tgisinternal AND t.tgname LIKE 'idmint\_%'`
	if err := db.all(ctx, r, "trigger", there, db.schema); err != nil {
		return err
	}
	off, err := db.list(ctx, there+` AND t.tgenabled NOT IN ('O', 'A')`, db.schema)
	if err != nil {
		return err
	}
	if len(off) > 0 {
		r.Finding("triggers are disabled: %s", first(off))
	}
	var role string
	err = db.one(ctx, `SELECT current_setting('session_replication_role')`, nil, &role)
	if role == "replica" {
		r.Finding("session_replication_role is replica: no trigger fires")
	}
	r.Pass("all triggers exist, and fire")
	return err
}

func postgresRights(ctx context.Context, db *database, r *checks.Reporter) error {
	rightsOf := func(list string, has bool) ([]string, error) {
		return db.list(ctx, `SELECT p || ' on ' || c.relname
			FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace,
				unnest(string_to_array($2, ' ')) p
			WHERE n.nspname = $1 AND c.relname = ANY (string_to_array($3, ' '))
				AND has_table_privilege(c.oid, p) = $4 ORDER BY c.relname, p`,
			db.schema, list, strings.Join(used, " "), has)
	}
	missing, err := rightsOf("SELECT INSERT UPDATE", false)
	if err != nil {
		return err
	}
	more, err := rightsOf("DELETE TRUNCATE", true)
	if err != nil {
		return err
	}
	var name string
	var super, owner bool
	err = db.one(ctx, `SELECT r.rolname::text, r.rolsuper,
		EXISTS (SELECT 1 FROM pg_catalog.pg_class c
			JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
			WHERE n.nspname = $1 AND c.relname LIKE 'idmint\_%'
			AND pg_has_role(c.relowner, 'USAGE'))
		FROM pg_catalog.pg_roles r WHERE r.rolname = current_user`, []any{db.schema}, &name, &super,
		&owner)
	if err != nil {
		return err
	}
	secured, err := db.list(ctx, `SELECT c.relname::text FROM pg_catalog.pg_class c
		JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
		WHERE n.nspname = $1 AND c.relkind = 'r' AND c.relname LIKE 'idmint\_%'
			AND row_security_active(c.oid)`, db.schema)
	if err != nil {
		return err
	}
	if len(secured) > 0 {
		r.Finding("row-level security applies to the role %s, and may hide rows: %s", name,
			first(secured))
	}
	if super {
		r.Note("the role %s is a superuser", name)
	} else if owner {
		r.Note("the role %s owns the tables, and may drop their triggers", name)
	}
	rights(r, name, missing, more)
	return nil
}

// rights reports rights that are missing, and rights that are not needed.
func rights(r *checks.Reporter, role string, missing, more []string) {
	if len(missing) > 0 {
		r.Finding("the role %s lacks %s", role, first(missing))
	}
	if len(more) > 0 {
		r.Note("the role %s does not need %s", role, first(more))
	}
	r.Pass("the role %s has the rights that it needs, and no others", role)
}

// postgresIdentity returns identifiers of the cluster and of its timeline, which changes with a
// promotion and with a restore to a point in time. The table's OID changes when a dump is restored.
func postgresIdentity(ctx context.Context, db *database) (map[string]string, error) {
	var system, timeline, name, table string
	err := db.one(ctx, `SELECT s.system_identifier::text, CASE WHEN pg_is_in_recovery()
			THEN (SELECT timeline_id::text FROM pg_control_checkpoint())
			ELSE ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int::text
			END,
			current_database()::text,
			coalesce((SELECT c.oid::text FROM pg_catalog.pg_class c
				JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
				WHERE n.nspname = $1 AND c.relname = 'idmint_namespace'), '')
		FROM pg_control_system() s`, []any{db.schema}, &system, &timeline, &name, &table)
	if err != nil {
		return nil, fmt.Errorf("the system's identifier: %w", err)
	}
	identity := map[string]string{
		"system_identifier": system, "timeline": timeline, "database": name,
	}
	if table != "" {
		identity["table"] = table
	}
	return identity, nil
}
