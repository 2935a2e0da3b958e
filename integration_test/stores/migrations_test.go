package stores_test

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/launchlog/storetest"
	"github.com/idmint/idmint/migrations"
)

// objectsOfPostgres lists what a schema holds.
const objectsOfPostgres = `
		SELECT concat_ws(' ', 'column', table_name, rank() OVER
				(PARTITION BY table_name ORDER BY ordinal_position), -- dropped ones leave gaps
			column_name, data_type, collation_name, is_nullable, column_default, is_identity)
			FROM information_schema.columns WHERE table_schema = 'public'
		UNION ALL SELECT concat_ws(' ', 'constraint', conrelid::regclass, pg_get_constraintdef(oid))
			FROM pg_constraint
			WHERE connamespace = 'public'::regnamespace
		UNION ALL SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
		UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
		UNION ALL SELECT concat_ws(' ', 'relation', relname, relkind, reloptions) FROM pg_class
			WHERE relnamespace = 'public'::regnamespace
		UNION ALL SELECT concat_ws(' ', 'function', proname, prosrc) FROM pg_proc
			WHERE pronamespace = 'public'::regnamespace`

// objectsOfMySQL lists what a database holds.
const objectsOfMySQL = `
		SELECT concat_ws(' ', 'column', table_name, ordinal_position, column_name, column_type,
			collation_name, is_nullable, column_default, extra)
			FROM information_schema.columns WHERE table_schema = database()
		UNION ALL SELECT concat_ws(' ', 'check', t.table_name, constraint_name, check_clause)
			FROM information_schema.check_constraints
			JOIN information_schema.table_constraints t USING (constraint_schema, constraint_name)
				WHERE constraint_schema = database()
		UNION ALL SELECT concat_ws(' ', 'key', table_name, constraint_name, ordinal_position,
			column_name, referenced_table_name, referenced_column_name)
			FROM information_schema.key_column_usage WHERE table_schema = database()
		UNION ALL SELECT concat_ws(' ', 'index', table_name, index_name, seq_in_index, column_name)
			FROM information_schema.statistics
			WHERE table_schema = database()
		UNION ALL SELECT concat_ws(' ', 'trigger', trigger_name, event_object_table,
			event_manipulation, trim(TRAILING ';' FROM action_statement))
			FROM information_schema.triggers
			WHERE trigger_schema = database()
		UNION ALL SELECT concat_ws(' ', 'table', table_name, engine, table_collation)
			FROM information_schema.tables WHERE table_schema = database()`

// empty makes an empty database, and opens it with settings.
func (s server) empty(t *testing.T, settings string) (*sql.DB, dsn.DSN) {
	t.Helper()
	d := s.fresh(t)
	if settings != "" {
		return dbtest.OpenSource(t, d.Driver(), d.Source()+settings), d
	}
	return dbtest.Open(t, d), d
}

func (s server) list(t *testing.T, db *sql.DB) string {
	t.Helper()
	rows, err := db.Query(s.objects)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var object string
		if err := rows.Scan(&object); err != nil {
			t.Fatal(err)
		}
		all = append(all, object)
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

func (s server) up(t *testing.T, db *sql.DB, wantFrom int) {
	t.Helper()
	from, to, err := migrations.Up(ctx, db, s.dialect)
	if err != nil || from != wantFrom || to != migrations.Latest(s.dialect) {
		t.Fatalf("up: from %d to %d, %v; want from %d", from, to, err, wantFrom)
	}
}

// files are the texts of a version's files, or of all of them.
func (s server) files(t *testing.T, pattern string) (texts []string) {
	t.Helper()
	names, err := fs.Glob(migrations.FS(s.dialect), pattern)
	if err != nil || len(names) == 0 {
		t.Fatalf("%s: %v, %v", pattern, names, err)
	}
	for _, name := range names {
		text, err := fs.ReadFile(migrations.FS(s.dialect), name)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	return texts
}

func TestMigrationVersions(t *testing.T) { eachSQL(t, versions) }

func versions(t *testing.T, s server) {
	byHand, _ := s.empty(t, s.whole)
	latest := migrations.Latest(s.dialect)
	schemas := []string{s.list(t, byHand)}
	for version := range latest { // by the files, without what Up does
		dbtest.Exec(t, byHand, s.files(t, fmt.Sprintf("%04d_*.up.sql", version+1))[0])
		schemas = append(schemas, s.list(t, byHand))
	}
	s.up(t, byHand, latest) // knows that it was done
	db, _ := s.empty(t, "")
	s.up(t, db, 0)
	s.up(t, db, latest)
	if got := s.list(t, db); got != schemas[latest] {
		t.Errorf("by hand:\n%s\nby Up:\n%s", schemas[latest], got)
	}
	for version := latest - 1; version >= 0; version-- {
		if err := migrations.Down(ctx, db, s.dialect, version); err != nil {
			t.Fatal(err)
		}
		if got := s.list(t, db); got != schemas[version] {
			t.Errorf("down to %d gives another schema:\n%s", version, got)
		}
		s.up(t, db, version)
		if got := s.list(t, db); got != schemas[latest] {
			t.Errorf("up from %d gives another schema:\n%s", version, got)
		}
	}
	downs := s.files(t, "*.down.sql")
	slices.Reverse(downs)
	dbtest.Exec(t, byHand, strings.Join(downs, ""))
	if left := s.list(t, byHand); left != schemas[0] {
		t.Errorf("down by hand left %s", left)
	}
}

// What was used stays, and so does all else, also by the files alone.
func TestDownKeepsWhatWasUsed(t *testing.T) {
	eachSQL(t, func(t *testing.T, s server) {
		for _, test := range []struct {
			used string
			to   int
			want error
		}{
			{"UPDATE idmint_namespace SET last_launch_id = 1", 0, migrations.ErrNotEmpty},
			// version 1 has launches, and no counters
			{"UPDATE idmint_namespace SET last_launch_id = 1", 1, nil},
			{
				"INSERT INTO idmint_counter (namespace, name, value) VALUES ('default', 'a', 1)", 0,
				migrations.ErrNotEmpty,
			},
			{
				"INSERT INTO idmint_counter (namespace, name, value) VALUES ('default', 'a', 1)", 1,
				migrations.ErrNotEmpty,
			},
			{
				"INSERT INTO idmint_counter (namespace, name, value) VALUES ('default', 'a', 0)", 0,
				nil,
			},
		} {
			db, _ := s.empty(t, s.whole)
			s.up(t, db, 0)
			dbtest.Exec(t, db, "INSERT INTO idmint_namespace (namespace, last_launch_id) VALUES ('default', 0)", test.used)
			before := s.list(t, db)
			if test.want != nil {
				file := "0001_*.down.sql"
				if strings.Contains(test.used, "counter") {
					file = "0002_*.down.sql"
				}
				text := s.files(t, file)[0]
				refusal := "only rise" // by a trigger
				if s.dialect == migrations.MySQL {
					refusal = "Duplicate entry"
				}
				if _, err := db.Exec(text); err == nil || !strings.Contains(err.Error(), refusal) {
					t.Errorf("%s, by the file: %v", test.used, err)
				}
				if s.dialect == migrations.MySQL { // whose connection has its locks still
					dbtest.Exec(t, db, "UNLOCK TABLES")
				}
			}
			if err := migrations.Down(ctx, db, s.dialect, test.to); !errors.Is(err, test.want) {
				t.Errorf("%s, down to %d: got %v, want %v", test.used, test.to, err, test.want)
			}
			version, err := migrations.Version(ctx, db, s.dialect)
			switch {
			case test.want == nil && (err != nil || version != test.to):
				t.Errorf("%s, down to %d: at version %d, %v", test.used, test.to, version, err)
			case test.want != nil && (err != nil || version != migrations.Latest(s.dialect) ||
				s.list(t, db) != before):
				t.Errorf("%s, down to %d was refused, and is at version %d, %v", test.used, test.to,
					version, err)
			}
		}
	})
}

// Down takes back all versions or none, except in MySQL: here the older one cannot be.
func TestDownAtOnce(t *testing.T) {
	each(t, func(t *testing.T, s server) {
		db, _ := s.empty(t, "")
		s.up(t, db, 0)
		dbtest.Exec(t, db, "ALTER TABLE idmint_order RENAME TO hidden")
		before := s.list(t, db)
		err := migrations.Down(ctx, db, s.dialect, 0)
		if err == nil || !strings.Contains(err.Error(), "idmint_order") {
			t.Errorf("got %v", err)
		}
		version, err := migrations.Version(ctx, db, s.dialect)
		if err != nil || version != migrations.Latest(s.dialect) || s.list(t, db) != before {
			t.Errorf("at version %d, %v", version, err)
		}
	}, sqliteFiles, postgresServer)
}

// Another tool applies the files while Up waits for it: Up goes on from there.
func TestOvertaken(t *testing.T) {
	t.Parallel()
	s := postgresServer
	db, _ := s.empty(t, "")
	tool, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer tool.Rollback()
	if _, err := tool.Exec(s.files(t, "0001_*.up.sql")[0]); err != nil {
		t.Fatal(err)
	}
	up := make(chan error, 1)
	go func() {
		_, _, err := migrations.Up(ctx, db, s.dialect)
		up <- err
	}()
	for waits := 0; waits == 0; {
		err := db.QueryRow(`SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&waits)
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := tool.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := <-up; err != nil {
		t.Error(err)
	}
	s.up(t, db, migrations.Latest(s.dialect))
}

// A launch that is started while Down waits for its locks is kept, and so is all else. In MySQL
// Down has taken the counters back by then, and Up brings them again.
func TestDownComesUponLaunch(t *testing.T) {
	waiting := map[migrations.Dialect]string{
		migrations.Postgres: "SELECT count(*) FROM pg_locks WHERE NOT granted " +
			"AND relation = 'idmint_namespace'::regclass",
		migrations.MySQL: `SELECT count(*) FROM information_schema.processlist
			WHERE db = database() AND state LIKE 'Waiting for table%'`,
	}
	eachServer(t, func(t *testing.T, s server) {
		db, _ := s.empty(t, "")
		s.up(t, db, 0)
		before := s.list(t, db)
		dbtest.Exec(t, db, "INSERT INTO idmint_namespace (namespace, last_launch_id) VALUES ('default', 0)")
		tx, err := db.Begin()
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback()
		if _, err := tx.Exec("UPDATE idmint_namespace SET last_launch_id = 1"); err != nil {
			t.Fatal(err)
		}
		down := make(chan error, 1)
		go func() { down <- migrations.Down(ctx, db, s.dialect, 0) }()
		for waits := 0; waits == 0; {
			if err := db.QueryRow(waiting[s.dialect]).Scan(&waits); err != nil {
				t.Fatal(err)
			}
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		if err := <-down; !errors.Is(err, migrations.ErrNotEmpty) {
			t.Errorf("down: %v", err)
		}
		if _, to, err := migrations.Up(ctx, db, s.dialect); err != nil ||
			to != migrations.Latest(s.dialect) {
			t.Errorf("up: to %d, %v", to, err)
		}
		if got := s.list(t, db); got != before {
			t.Errorf("left\n%s", got)
		}
	})
}

// A table of the same name is in the way, or a newer version: no version is recorded, and only
// MySQL leaves something behind.
func TestMigrationRefused(t *testing.T) {
	eachSQL(t, func(t *testing.T, s server) {
		db, _ := s.empty(t, "")
		dbtest.Exec(t, db, "CREATE TABLE idmint_launch_event (x int)")
		before := s.list(t, db)
		if _, _, err := migrations.Up(ctx, db, s.dialect); err == nil ||
			!strings.HasPrefix(err.Error(), "migrations: 0001_launch_log.up.sql: ") {
			t.Errorf("got %v", err)
		}
		if version, err := migrations.Version(ctx, db, s.dialect); version != 0 || err != nil {
			t.Errorf("at version %d, %v", version, err)
		}
		if after := s.list(t, db); s.dialect != migrations.MySQL && after != before {
			t.Errorf("left behind:\n%s", after)
		}
		newer, _ := s.empty(t, "")
		s.up(t, newer, 0)
		dbtest.Exec(t, newer, "INSERT INTO idmint_schema (version) VALUES (1000)")
		var e *migrations.NewerError
		next, nextPlace := s.empty(t, "")
		s.up(t, next, 0)
		latest := migrations.Latest(s.dialect)
		dbtest.Exec(t, next, fmt.Sprintf("INSERT INTO idmint_schema (version) VALUES (%d)", latest+1))
		if from, to, err := migrations.Up(ctx, next, s.dialect); err != nil || from != to || to != latest+1 {
			t.Errorf("one version newer: from %d to %d, %v", from, to, err)
		}
		if l, err := logOf(t, open(t, nextPlace)).Start(ctx, storetest.Request("a")); err != nil || l.ID != 1 {
			t.Errorf("one version newer: %+v, %v", l, err)
		}
		if _, _, err := migrations.Up(ctx, newer, s.dialect); !errors.As(err, &e) ||
			e.Have != 1000 {
			t.Errorf("up: got %v", err)
		}
		if err := migrations.Down(ctx, newer, s.dialect, 0); !errors.As(err, &e) {
			t.Errorf("down: got %v", err)
		}
	})
}

// A connection to MySQL without a database is refused: there is nothing to wait for.
func TestNoDatabase(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t, databases.MariaDB).WithDatabase("")
	db := dbtest.Open(t, d)
	_, versionErr := migrations.Version(ctx, db, migrations.MySQL)
	_, _, upErr := migrations.Up(ctx, db, migrations.MySQL)
	for call, err := range map[string]error{
		"Version": versionErr, "Up": upErr,
		"Down": migrations.Down(ctx, db, migrations.MySQL, 0),
	} {
		if err == nil ||
			err.Error() != "migrations: the connection has no database: name one in the DSN" {
			t.Errorf("%s: %v", call, err)
		}
	}
}

// MySQL keeps what a migrator did until it was cut off: wherever that was, the next one completes
// it.
func TestCutOff(t *testing.T) {
	t.Parallel()
	s := mysqlServer
	whole, _ := s.empty(t, "")
	s.up(t, whole, 0)
	want := s.list(t, whole)
	statements := func(text string) (list []string) {
		for part := range strings.SplitSeq(text, ";\n\n") {
			list = append(list, strings.TrimSuffix(strings.TrimSpace(part), ";"))
		}
		return list
	}
	db, _ := s.empty(t, "")
	cuts := 0
	for version, from := 1, 0; version <= 2; version, from = version+1, version {
		up := statements(s.files(t, fmt.Sprintf("%04d_*.up.sql", version))[0])
		for after := version; after < len(up); after += 3 {
			dbtest.Exec(t, db, up[:after]...)
			cuts++
			s.up(t, db, from)
			if got := s.list(t, db); got != want {
				t.Errorf("version %d, cut off after %d statements, is completed as\n%s", version,
					after, got)
			}
			if err := migrations.Down(ctx, db, s.dialect, from); err != nil {
				t.Fatal(err)
			}
		}
		s.up(t, db, from)
		if err := migrations.Down(ctx, db, s.dialect, version); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d cuts", cuts)
}

// A log of an earlier release has triggers. Up drops those, and no other one.
func TestTriggersOfEarlierReleases(t *testing.T) {
	t.Parallel()
	s := mysqlServer
	db, _ := s.empty(t, "")
	s.up(t, db, 0)
	want := s.list(t, db)
	if err := migrations.Down(ctx, db, s.dialect, 4); err != nil {
		t.Fatal(err)
	}
	refuse := " FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'idmint: refused'"
	for _, trigger := range []string{
		"idmint_namespace_delete", "idmint_namespace_update", "idmint_launch_delete",
		"idmint_launch_update", "idmint_launch_end", "idmint_launch_generator",
		"idmint_generator_delete", "idmint_generator_update", "idmint_launch_event_delete",
		"idmint_launch_event_update", "idmint_counter_delete", "idmint_counter_update",
	} {
		table := trigger[:strings.LastIndexByte(trigger, '_')]
		event := "UPDATE"
		if strings.HasSuffix(trigger, "_delete") {
			event = "DELETE"
		}
		dbtest.Exec(t, db, "CREATE TRIGGER "+trigger+" BEFORE "+event+" ON "+table+refuse)
	}
	s.up(t, db, 4)
	if got := s.list(t, db); got != want {
		t.Errorf("left\n%s", got)
	}
	if err := migrations.Down(ctx, db, s.dialect, 4); err != nil {
		t.Fatal(err)
	}
	dbtest.Exec(t, db, "CREATE TRIGGER audit BEFORE DELETE ON idmint_launch"+refuse)
	s.up(t, db, 4)
	dbtest.Exec(t, db, "DROP TRIGGER audit") // it is there
}

// Of many at once that go up and down, some in the middle of others, none fails for the others.
func TestUpAndDownAtOnce(t *testing.T) {
	eachSQL(t, func(t *testing.T, s server) {
		db, _ := s.empty(t, "")
		errs := make(chan error)
		for i := range 6 {
			go func() {
				var err error
				for range 3 {
					if i%3 == 0 {
						err = errors.Join(err, migrations.Down(ctx, db, s.dialect, i%2))
						continue
					}
					_, _, upErr := migrations.Up(ctx, db, s.dialect)
					err = errors.Join(err, upErr)
				}
				errs <- err
			}()
		}
		for range 6 {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
	})
}
