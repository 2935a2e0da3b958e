// The file is written by hand. GORM's log passes over files of this name, and names the caller's.

package gormid

import (
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	gormmigrator "gorm.io/gorm/migrator"
	"gorm.io/gorm/schema"
)

// GORM asks the dialect for a column's type, and the dialect asks the field. An ID's type imports
// neither: it can say no more than GormDataType. So the plugin sets the type as a migration begins,
// before the dialect is asked.

// dialector is a database's own, with a migrator that knows the columns of IDs. Some methods are
// optional in GORM, so those of a dialector without them do as GORM does.
type dialector struct {
	gorm.Dialector
	gorm.SavePointerDialectorInterface
	gorm.ErrorTranslator
	columns *columns
	in      *installed
}

func (in *installed) wrap(d gorm.Dialector) dialector {
	w := dialector{d, without{}, without{}, &columns{dialect: d.Name(), noTests: in.noTests}, in}
	if s, ok := d.(gorm.SavePointerDialectorInterface); ok {
		w.SavePointerDialectorInterface = s
	}
	if t, ok := d.(gorm.ErrorTranslator); ok {
		w.ErrorTranslator = t
	}
	return w
}

// without has the optional methods.
type without struct{}

func (without) SavePoint(*gorm.DB, string) error  { return gorm.ErrUnsupportedDriver }
func (without) RollbackTo(*gorm.DB, string) error { return gorm.ErrUnsupportedDriver }
func (without) Translate(err error) error         { return err }

func (d dialector) Migrator(db *gorm.DB) gorm.Migrator {
	own := d.Dialector.Migrator(db)
	options, _ := own.(gormmigrator.BuildIndexOptionsInterface)
	return migrator{own, options, db, d.columns, d.in}
}

// Unwrap is the database's own.
func (d dialector) Unwrap() gorm.Dialector { return d.Dialector }

// migrator is a database's own, whose models are prepared. The database's migrator calls itself
// through the dialector.
type migrator struct {
	gorm.Migrator
	gormmigrator.BuildIndexOptionsInterface // which GORM relies on as well
	db                                      *gorm.DB
	columns                                 *columns
	in                                      *installed
}

// prepared calls do if nothing is wrong with models. GORM refuses what is none. Each may decide
// about the others, so all are known before.
func (m migrator) prepared(do func() error, models ...any) error {
	var all []*schema.Schema
	for _, model := range models {
		stmt := &gorm.Statement{DB: m.db}
		if err := stmt.ParseWithSpecialTableName(model, m.db.Statement.Table); err == nil {
			m.in.model(stmt.Schema)
			all = append(all, stmt.Schema)
		}
	}
	for _, s := range all {
		if err := m.in.model(s).makeErr; err != nil {
			return err
		}
		m.columns.prepareModel(s)
	}
	return do()
}

func (m migrator) AutoMigrate(models ...any) error {
	return m.prepared(func() error { return m.Migrator.AutoMigrate(models...) }, models...)
}

func (m migrator) CreateTable(models ...any) error {
	return m.prepared(func() error { return m.Migrator.CreateTable(models...) }, models...)
}

func (m migrator) AddColumn(model any, field string) error {
	return m.prepared(func() error { return m.Migrator.AddColumn(model, field) }, model)
}

func (m migrator) AlterColumn(model any, field string) error {
	return m.prepared(func() error { return m.Migrator.AlterColumn(model, field) }, model)
}

func (m migrator) RenameColumn(model any, from, to string) error {
	return m.prepared(func() error { return m.Migrator.RenameColumn(model, from, to) }, model)
}

// MigrateColumn leaves a column of ClickHouse alone that has its type already. GORM would change it
// each time: it also compares NOT NULL and DEFAULT, and does not read them right there. A primary
// key of another type is an [*Error], since GORM leaves it as it is.
func (m migrator) MigrateColumn(model any, field *schema.Field, is gorm.ColumnType) error {
	if !m.columns.prepare(field) {
		return m.Migrator.MigrateColumn(model, field, is)
	}
	isTyped := strings.EqualFold(is.DatabaseTypeName(), string(field.DataType))
	isOwnKey := field.PrimaryKey && !field.AutoIncrement && !field.IgnoreMigration
	switch {
	case m.columns.dialect == "clickhouse" && !field.HasDefaultValue && isTyped:
		return nil
	case m.columns.dialect != "sqlite" && isOwnKey && !m.is(field, is):
		return newError(field.Schema, field.Schema.Table, fmt.Errorf(
			"the primary key %s is of type %s in the database, and its IDs need %s: "+
				"GORM never changes the type of a primary key: change it yourself, "+
				"or ask for its type by a tag if that holds the IDs",
			field.DBName, is.DatabaseTypeName(), m.db.Dialector.DataTypeOf(field)))
	}
	return m.Migrator.MigrateColumn(model, field, is)
}

// HasConstraint looks at the table's definition in ClickHouse, which has no list of constraints. GORM
// would add a check again with each migration, and fail.
func (m migrator) HasConstraint(model any, name string) bool {
	stmt := &gorm.Statement{DB: m.db}
	if m.columns.dialect != "clickhouse" || stmt.ParseWithSpecialTableName(model, m.db.Statement.Table) != nil {
		return m.Migrator.HasConstraint(model, name)
	}
	var n int64
	m.db.Raw("SELECT count() FROM system.tables WHERE database = currentDatabase() AND name = ? AND "+
		"position(create_table_query, ?) > 0", stmt.Table, "CONSTRAINT "+name+" CHECK").Scan(&n)
	return n > 0
}

// is reports whether a column has the type of its field, or one that holds the same. A database may
// have several names for a type. A name is the beginning of a type that says a collation as well.
func (m migrator) is(field *schema.Field, column gorm.ColumnType) bool {
	name := strings.ToLower(column.DatabaseTypeName())
	names := append([]string{name}, m.GetTypeAliases(name)...)
	if full, ok := column.ColumnType(); ok {
		names = append(names, strings.ToLower(full))
	}
	switch {
	case m.columns.dialect == "postgres" && name == "varchar":
		names = append(names, "text")
	case m.columns.dialect == "clickhouse" && name == "lowcardinality(string)":
		names = append(names, "string")
	}
	want := strings.ToLower(m.db.Dialector.DataTypeOf(field))
	return slices.ContainsFunc(names, func(name string) bool {
		return strings.HasPrefix(want+" ", name+" ")
	})
}

// GetTypeAliases knows that an integer and a bigint are the same in SQLite. GORM would copy a table
// to change one into the other.
func (m migrator) GetTypeAliases(name string) []string {
	if m.columns.dialect == "sqlite" && name == "integer" {
		return []string{"bigint"}
	}
	return m.Migrator.GetTypeAliases(name)
}

func (m migrator) FullDataTypeOf(field *schema.Field) clause.Expr {
	m.columns.prepare(field)
	return m.Migrator.FullDataTypeOf(field)
}
