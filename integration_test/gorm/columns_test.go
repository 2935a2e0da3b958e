package gorm_test

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	"gorm.io/gorm/schema"

	"github.com/idmint/idmint/gormid"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/sqlid"
)

// node has an ID in every place where a column can be one.
type node[K idtype.ID] struct {
	ID       K
	Name     string
	ParentID *K
	Parent   *node[K]
	PairA    *K
	PairB    *K
	Pair     *pair[K] `gorm:"foreignKey:PairA,PairB;references:A,B"`
	Plain    K        `gorm:"index"`
	Strict   *K       `gorm:"not null"`
	Null     sql.Null[K]
	Null2    sqlid.Null[K]
	Zero     idtype.OrZero[K]
}

// pair's key is composite.
type pair[K idtype.ID] struct {
	A    K `gorm:"primaryKey"`
	B    K `gorm:"primaryKey"`
	Name string
}

// link's composite key is of foreign keys.
type link[K idtype.ID] struct {
	NodeID K `gorm:"primaryKey"`
	PeerID K `gorm:"primaryKey"`
	Node   *node[K]
	Peer   *node[K]
}

func (link[K]) TableName() string { return "links" }

// seed is where IDs come from.
type seed[K idtype.ID] struct{ ID K }

func (seed[K]) TableName() string { return "seeds" }
func (node[K]) TableName() string { return "nodes" }
func (pair[K]) TableName() string { return "pairs" }

// typeOf is a key's column in each database, as the database tells it.
func typeOf[K idtype.ID](in Kind) string {
	var zero K
	n := len(idtype.AppendBytes(nil, zero))
	return map[idtype.Storage]map[Kind]string{
		idtype.StorageBigint: {
			SQLite: "bigint", Postgres: "bigint", MariaDB: "bigint(20)", ClickHouse: "Int64",
		},
		idtype.StorageBytes: {
			SQLite: "BLOB", Postgres: "bytea", MariaDB: fmt.Sprintf("binary(%d)", n),
			ClickHouse: fmt.Sprintf("FixedString(%d)", n),
		},
		idtype.StorageText: {
			SQLite: "char(16)", Postgres: "text COLLATE C",
			MariaDB: "char(16) COLLATE ascii_bin", ClickHouse: "String",
		},
		idtype.StorageUUID: {SQLite: "uuid", Postgres: "uuid", MariaDB: "uuid", ClickHouse: "UUID"},
	}[zero.Storage()][in]
}

// The column of an ID is the same as a primary key, in a composite one, as a foreign key and as
// none. It is nullable where the field is. Nothing numbers it, and it is right at once: a second
// migration finds nothing to change.
func testColumns(t *testing.T, d database) {
	for _, k := range keyTests {
		t.Run(k.name, func(t *testing.T) { k.columns(t, d) })
	}
}

func testColumn[K idtype.ID](t *testing.T, d database) {
	rules := []gormid.Rule{ruleOf[K](), gormid.Lenient()} // K is of no model
	d, isClickHouse := d.with(t), d.Kind == ClickHouse
	log := &trace{Interface: logger.Discard}
	db := openWith(
		t, d.dialector(t),
		&gorm.Config{Logger: log, DisableForeignKeyConstraintWhenMigrating: isClickHouse}, rules...,
	)
	migrate(t, db, &link[K]{}, &node[K]{}, &pair[K]{}, &seed[K]{})
	want := typeOf[K](d.Kind)
	null := want + " NULL"
	plain := null // by default a column is nullable
	if isClickHouse {
		plain, null = want, "Nullable("+want+")"
	}
	for table, columns := range map[string]map[string]string{
		"nodes": {
			"id": want, "parent_id": null, "pair_a": null, "pair_b": null, "plain": plain,
			"strict": want, "null": null, "null2": null, "zero": plain,
		},
		"pairs": {"a": want, "b": want},
		"links": {"node_id": want, "peer_id": want},
	} {
		for name, got := range d.columns(t, db, table) {
			if want, ok := columns[name]; ok && got != want {
				t.Errorf("%s.%s is %s, want %s", table, name, got, want)
			}
			delete(columns, name)
		}
		if len(columns) > 0 {
			t.Errorf("%s has no columns %v", table, columns)
		}
	}
	if d.Kind == Postgres {
		wantColumn[string](
			t, db, "SELECT sequencename FROM pg_sequences WHERE schemaname = current_schema()",
		)
	}

	before := len(log.sql)
	again := openWith(
		t, d.dialector(t),
		&gorm.Config{Logger: log, DisableForeignKeyConstraintWhenMigrating: isClickHouse}, rules...,
	)
	migrate(t, again, &seed[K]{}, &pair[K]{}, &node[K]{}, &link[K]{})
	changes := regexp.MustCompile("(?i)^(CREATE|DROP|ALTER)")
	// ClickHouse's driver changes what is no ID each time
	others := regexp.MustCompile("MODIFY COLUMN .name. String")
	for _, sql := range log.sql[before:] {
		if changes.MatchString(sql) && !others.MatchString(sql) {
			t.Errorf("the second migration: %s", sql)
		}
	}
	checkValues[K](t, db, isClickHouse)
	if !isClickHouse { // which has no unique keys
		checkUpserts[K](t, d, db)
	}
}

// checkValues stores and reads IDs and what is none.
func checkValues[K idtype.ID](t *testing.T, db *gorm.DB, isClickHouse bool) {
	seeds := make([]seed[K], 3)
	must(t, db.Create(&seeds))
	ids := []K{seeds[0].ID, seeds[1].ID, seeds[2].ID}
	p := pair[K]{A: ids[0], B: ids[1], Name: "p"}
	must(t, db.Create(&p))
	root := node[K]{Name: "root", Plain: ids[2], Strict: &ids[2]}
	if isClickHouse {
		const want = ": the pointer is nil, on which ClickHouse's driver panics: " +
			"declare the field as sql.Null or idtype.OrZero"
		err := db.Create(&root).Error
		if err == nil || !strings.Contains(err.Error(), "row 0: ParentID of type *idtype.") ||
			!strings.HasSuffix(err.Error(), want) {
			t.Errorf("error %v", err)
		}
		m := map[string]any{
			"id": root.ID, "name": root.Name, "parent_id": root.ParentID, "pair_a": nil,
			"pair_b": nil, "plain": root.Plain, "strict": root.Strict,
		}
		must(t, db.Model(&node[K]{}).Create(m))
	} else {
		must(t, db.Create(&root))
	}
	full := node[K]{
		Name: "full", ParentID: &root.ID, PairA: &p.A, PairB: &p.B, Plain: ids[0], Strict: &ids[1],
		Null: sql.Null[K]{V: ids[1], Valid: true}, Null2: sqlid.NullOf(ids[2]),
		Zero: idtype.OrZero[K]{ID: ids[0]},
	}
	must(t, db.Create(&full))
	var back []node[K]
	must(t, db.Order("name").Preload("Parent").Preload("Pair").Find(&back))
	if len(back) != 2 || back[0].Parent == nil || back[0].Parent.ID != root.ID ||
		back[0].Pair == nil || *back[0].Pair != p {
		t.Fatalf("read %+v", back)
	}
	back[0].Parent, back[0].Pair = nil, nil
	for i, want := range []node[K]{full, root} {
		if got, want := fmt.Sprintf("%+v", deref(back[i])),
			fmt.Sprintf("%+v", deref(want)); got != want {
			t.Errorf("read  %s\nwrote %s", got, want)
		}
	}
	for query, id := range map[string]K{
		"id = ?": full.ID, "parent_id = ?": root.ID,
		"zero = ?": ids[0], "null2 = ?": ids[2],
	} {
		var found node[K]
		if err := db.Where(query, id).First(&found).Error; err != nil || found.ID != full.ID {
			t.Errorf("%s %v: found %v, %v", query, id, found.ID, err)
		}
	}
	var joined []string
	must(t, db.Model(&node[K]{}).Joins("JOIN nodes AS parents ON parents.id = nodes.parent_id").
		Where("nodes.id IN ?", []K{full.ID, root.ID}).Pluck("parents.name", &joined))
	if !slices.Equal(joined, []string{"root"}) {
		t.Errorf("joined %v", joined)
	}
}

func deref[K idtype.ID](n node[K]) (fields []any) {
	for _, p := range []*K{n.ParentID, n.PairA, n.PairB, n.Strict} {
		if p != nil {
			fields = append(fields, *p)
		} else {
			fields = append(fields, nil)
		}
	}
	return append(fields, n.ID, n.Name, n.Plain, n.Null, n.Null2, n.Zero)
}

// Label has a join table, which GORM makes up.
type Label struct {
	ID    idtype.SnoID
	Peers []*Label `gorm:"many2many:label_peers"`
}

func testJoinTableColumns(t *testing.T, d database) {
	db := d.open(t, ruleOf[idtype.SnoID]())
	migrate(t, db, &Label{})
	for range 2 {
		columns := d.columns(t, db, "label_peers")
		if want := d.columns(t, db, "labels")["id"]; len(columns) != 2 ||
			columns["label_id"] != want || columns["peer_id"] != want {
			t.Errorf("the columns of the join table are %v, the key is %s", columns, want)
		}
		migrate(t, db, &Label{})
	}
	l := Label{Peers: []*Label{{}, {}}}
	must(t, db.Create(&l))
	var back Label
	must(t, db.Preload("Peers").First(&back, "id = ?", l.ID))
	if len(back.Peers) != 2 {
		t.Errorf("read %v", back)
	}
}

// A table that is there gets what it has not, and what is of another type is changed, be it by name
// or by AutoMigrate.
func testGrownTable(t *testing.T, d database) {
	type Grown struct {
		ID    idtype.SnoID
		Moved *idtype.SnoID
		Wrong *idtype.SnoID
		Added *idtype.SnoID
	}
	db := d.open(t, ruleOf[idtype.SnoID]())
	bytes := map[Kind]string{
		SQLite: "BLOB", Postgres: "bytea", MariaDB: "binary(10)",
		ClickHouse: "FixedString(10)",
	}[d.Kind]
	must(t, db.Exec("CREATE TABLE growns ("+map[Kind]string{
		SQLite:   "id BLOB PRIMARY KEY, was BLOB, wrong text)",
		Postgres: "id bytea PRIMARY KEY, was bytea, wrong text)",
		MariaDB:  "id binary(10) PRIMARY KEY, was longblob, wrong longblob)",
		ClickHouse: "id FixedString(10), was Nullable(FixedString(10)), wrong String) " +
			"ENGINE = MergeTree ORDER BY id",
	}[d.Kind]))
	try(t, db.Migrator().RenameColumn(&Grown{}, "was", "moved"))
	migrate(t, db, &Grown{})
	null := bytes + " NULL"
	if d.Kind == ClickHouse {
		null = "Nullable(" + bytes + ")"
	}
	want := map[string]string{"id": bytes, "moved": null, "wrong": null, "added": null}
	if got := d.columns(t, db, "growns"); !maps.Equal(got, want) {
		t.Errorf("the columns are %v, want %v", got, want)
	}
	if err := db.Migrator().AlterColumn(&Grown{}, "Added"); err != nil {
		t.Error(err)
	}
	if got := d.columns(t, db, "growns"); !maps.Equal(got, want) {
		t.Errorf("after AlterColumn the columns are %v, want %v", got, want)
	}
}

// A primary key that holds no IDs is an error: GORM changes other columns only. In SQLite any
// column takes any type.
func testKeyOfAnotherType(t *testing.T, d database) {
	type Wrong struct {
		ID   idtype.SnoID
		Name string
	}
	type Number struct {
		ID   idtype.DecimalID
		Name string
	}
	type Text struct {
		ID   idtype.Sno[idtype.AsText[any]]
		Name string
	}
	type Asked struct {
		ID   idtype.SnoID `gorm:"type:binary(16)"`
		Name string
	}
	db := d.open(t, ruleOf[idtype.SnoID](), gormid.Lenient())
	wrong := map[Kind]map[any][]string{
		SQLite: {&Wrong{}: nil, &Number{}: nil, &Text{}: nil},
		Postgres: {
			&Wrong{}: {"text", "bigint"}, &Number{}: {"int", "bytea", "numeric"},
			&Text{}: {"bytea", "bigint"},
		},
		MariaDB: {
			&Wrong{}:  {"binary(8)", "varbinary(10)", "bigint"},
			&Number{}: {"int", "binary(8)", "decimal(20)"},
			&Text{}:   {"varchar(16)", "char(20)"},
		},
		ClickHouse: {
			&Wrong{}: {"FixedString(8)", "String"}, &Number{}: {"Int32", "UInt64"},
			&Text{}: {"FixedString(16)"},
		},
	}[d.Kind]
	for model, types := range wrong {
		stmt := gorm.Statement{DB: db}
		try(t, stmt.Parse(model))
		for _, typ := range types {
			create := "CREATE TABLE " + stmt.Table + " (id " + typ +
				" PRIMARY KEY, name varchar(100))"
			if d.Kind == ClickHouse {
				create = "CREATE TABLE " + stmt.Table + " (id " + typ +
					", name String) ENGINE = MergeTree ORDER BY id"
			}
			must(t, db.Exec(create))
			err := db.AutoMigrate(model)
			var e *gormid.Error
			if !errors.As(err, &e) || e.Table != stmt.Table ||
				!strings.Contains(err.Error(), "the primary key id is of type ") {
				t.Errorf("%T of a table whose key is %s: %v", model, typ, err)
			}
			must(t, db.Exec("DROP TABLE "+stmt.Table))
		}
	}
	if holds := map[Kind]string{ // what holds the same
		Postgres: "CREATE TABLE texts (id varchar(16) PRIMARY KEY, name text)",
		ClickHouse: "CREATE TABLE texts (id LowCardinality(String), name String) ENGINE = " +
			"MergeTree ORDER BY id",
	}[d.Kind]; holds != "" {
		must(t, db.Exec(holds))
		migrate(t, db, &Text{})
		row := Text{Name: "a"}
		must(t, db.Create(&row))
		var found Text
		must(t, db.First(&found, row.ID))
		if found != row {
			t.Errorf("%+v, want %+v", found, row)
		}
	}
	if d.Kind == MariaDB {
		must(t, db.Exec("CREATE TABLE askeds (id binary(16) PRIMARY KEY, name longtext)"))
		migrate(t, db, &Asked{})
	}
}

// A type that the user asks for stays, also in the foreign keys that refer to it. To ask takes no
// migration.
func testTypeTag(t *testing.T, d database) {
	type Kept struct {
		ID   idtype.SnoID `gorm:"type:blobby(20)"`
		Plan idtype.SnoID
		Long idtype.SnoID `gorm:"type:bytes"` // in GORM's words
	}
	type Child struct {
		ID     idtype.SnoID
		KeptID *idtype.SnoID
		Kept   *Kept
	}
	db := d.open(t, ruleOf[idtype.SnoID]())
	kept, child := gorm.Statement{DB: db}, gorm.Statement{DB: db}
	try(t, cmp.Or(kept.Parse(&Kept{}), child.Parse(&Child{})))
	bytes := map[Kind]string{
		SQLite: "blob", Postgres: "bytea", MariaDB: "BINARY(10)",
		ClickHouse: "FixedString(10)",
	}
	long := map[Kind]string{
		SQLite: "blob", Postgres: "bytea", MariaDB: "longblob",
		ClickHouse: "String",
	}
	for field, want := range map[*schema.Field]string{
		kept.Schema.LookUpField("long"):     long[d.Kind],
		kept.Schema.LookUpField("id"):       "blobby(20)",
		kept.Schema.LookUpField("plan"):     bytes[d.Kind],
		child.Schema.LookUpField("id"):      bytes[d.Kind],
		child.Schema.LookUpField("kept_id"): "blobby(20)",
	} {
		if field.PrimaryKey && d.Kind == SQLite {
			want += " NOT NULL"
		}
		if got := db.Migrator().FullDataTypeOf(field).SQL; got != want {
			t.Errorf("%s of %s is %s, want %s", field.DBName, field.Schema.Name, got, want)
		}
	}
}

// columns asks the database for a table's columns.
func (d database) columns(t *testing.T, db *gorm.DB, table string) map[string]string {
	t.Helper()
	query := map[Kind]string{
		SQLite: `SELECT name, type || iif("notnull" OR pk, '', ' NULL') FROM pragma_table_info(?)`,
		Postgres: `SELECT attname, format_type(atttypid, atttypmod)
			|| coalesce(' COLLATE ' || nullif(collname, 'default'), '')
			|| CASE WHEN attnotnull THEN '' ELSE ' NULL' END
			|| coalesce(' DEFAULT ' || pg_get_expr(adbin, adrelid), '')
			FROM pg_attribute
			LEFT JOIN pg_collation ON pg_collation.oid = attcollation
			LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
			WHERE attrelid = ?::text::regclass AND attnum > 0`,
		MariaDB: `SELECT column_name, concat(column_type,
			coalesce(concat(' COLLATE ', collation_name), ''),
			if(is_nullable = 'YES', ' NULL', ''), extra)
			FROM information_schema.columns WHERE table_schema = database() AND table_name = ?`,
		ClickHouse: `SELECT name, type FROM system.columns
			WHERE database = currentDatabase() AND table = ?`,
	}[d.Kind]
	rows, err := db.Session(&gorm.Session{NewDB: true}).Raw(query, table).Rows()
	try(t, err)
	defer rows.Close()
	columns := map[string]string{}
	for rows.Next() {
		var name, column string
		try(t, rows.Scan(&name, &column))
		columns[name] = column
	}
	try(t, cmp.Or(rows.Err(), rows.Close()))
	return columns
}

type (
	ledger      struct{ ID idtype.Decimal[ledger] }
	ledgerEvent struct{ ID idtype.Sno[ledgerEvent] }
)

// A database in production refuses IDs of launch 0 as keys, whoever set them, and takes all others.
// A migration again changes nothing.
func testRefuseTestIDs(t *testing.T, d database) {
	d = d.with(t)
	use := gormid.Use(newSource())
	for name, rules := range map[string][]gormid.Rule{
		"production": {use, gormid.Lenient(), gormid.RefuseTestIDs()}, "tests": {use, gormid.Lenient()},
	} {
		db := d.open(t, rules...)
		for range 2 {
			migrate(t, db, &ledger{}, &ledgerEvent{})
		}
		refuses := name == "production"
		if err := db.Create(&ledger{ID: 50_000_000_000}).Error; (err != nil) != refuses {
			t.Errorf("%s: a test ID: %v", name, err)
		}
		if err := db.Create(&ledger{}).Error; (err != nil) != refuses { // minted in a test
			t.Errorf("%s: a minted test ID: %v", name, err)
		}
		try(t, db.Create(&ledger{ID: 10_000_000_001}).Error)
		try(t, db.Create(&ledgerEvent{ID: idtype.Sno[ledgerEvent]{9: 1}}).Error)
		try(t, db.Migrator().DropTable(&ledger{}, &ledgerEvent{}))
	}
}
