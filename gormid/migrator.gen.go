// This file is written by hand. GORM's log skips files with such a name, and reports the caller's
// file instead.

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
// neither, and can only provide a GormDataType. The plugin therefore sets the type when a migration
// begins, before the dialect is asked.

// dialector is a database's own dialector, with a migrator that knows the columns of IDs. Some of
// its methods are optional in GORM. If the database's dialector lacks them, they behave as GORM
// does without them.
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

// without provides the optional methods.
type without struct{}

func (without) SavePoint(*gorm.DB, string) error  { return gorm.ErrUnsupportedDriver }
func (without) RollbackTo(*gorm.DB, string) error { return gorm.ErrUnsupportedDriver }
func (without) Translate(err error) error         { return err }

func (d dialector) Migrator(db *gorm.DB) gorm.Migrator {
	own := d.Dialector.Migrator(db)
	options, _ := own.(gormmigrator.BuildIndexOptionsInterface)
	return migrator{own, options, db, d.columns, d.in}
}

// Unwrap returns the database's own dialector.
func (d dialector) Unwrap() gorm.Dialector { return d.Dialector }

// migrator is a database's own migrator, but prepares models first. The database's migrator calls
// itself through the dialector.
type migrator struct {
	gorm.Migrator
	gormmigrator.BuildIndexOptionsInterface // which GORM relies on as well
	db                                      *gorm.DB
	columns                                 *columns
	in                                      *installed
}

// prepared calls do if there is nothing wrong with the models. GORM itself rejects values that are
// not models. All models are looked at first, because each of them may affect the decisions about
// the others.
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

// MigrateColumn leaves a ClickHouse column unchanged that already has its type. GORM would change
// it each time, because it also compares NOT NULL and DEFAULT, which it does not read correctly
// there. A primary key of another type is an [*Error], because GORM does not change it.
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
			"the primary key %s is of type %s in the database, but its IDs need %s: "+
				"GORM never changes the type of a primary key: change it yourself, "+
				"or name the type in a tag if it can hold the IDs",
			field.DBName, is.DatabaseTypeName(), m.db.Dialector.DataTypeOf(field)))
	}
	return m.Migrator.MigrateColumn(model, field, is)
}

// HasConstraint looks at the table's definition in ClickHouse, which has no list of constraints.
// Otherwise GORM would add a check again with each migration, and fail.
func (m migrator) HasConstraint(model any, name string) bool {
	stmt := &gorm.Statement{DB: m.db}
	if m.columns.dialect != "clickhouse" ||
		stmt.ParseWithSpecialTableName(model, m.db.Statement.Table) != nil {
		return m.Migrator.HasConstraint(model, name)
	}
	var n int64
	m.db.Raw("SELECT count() FROM system.tables WHERE database = currentDatabase() "+
		"AND name = ? AND position(create_table_query, ?) > 0", stmt.Table,
		"CONSTRAINT "+name+" CHECK").Scan(&n)
	return n > 0
}

// is reports whether a column has the type of its field, or an equivalent one. A database may have
// several names for a type. If a type includes a collation, a name may be just its beginning.
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

// GetTypeAliases declares an integer and a bigint to be the same in SQLite. Otherwise GORM would
// copy a table to change one into the other.
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
