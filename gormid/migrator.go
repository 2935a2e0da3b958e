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

// A column's type in SQL is GORM's to know by the dialect, and the dialect's by the field: an ID's type, which imports neither,
// can say no more than GormDataType. So the plugin sees to it as a migration begins, which is before the dialect is asked.

// dialector is a database's own, with a migrator that knows the columns of IDs. What the interface leaves optional is here in
// any case, and does as GORM does for a dialector without it.
type dialector struct {
	gorm.Dialector
	columns *columns
	all     *models
}

var (
	_ gorm.SavePointerDialectorInterface = dialector{}
	_ gorm.ErrorTranslator               = dialector{}
)

// knows reports whether the plugin has something to say about a dialect.
func knows(dialect string) bool {
	return literals[dialect] != nil
}

func (d dialector) Migrator(db *gorm.DB) gorm.Migrator {
	return migrator{d.Dialector.Migrator(db), db, d.columns, d.all}
}

// Unwrap is the database's own.
func (d dialector) Unwrap() gorm.Dialector { return d.Dialector }

func (d dialector) SavePoint(tx *gorm.DB, name string) error {
	if s, ok := d.Dialector.(gorm.SavePointerDialectorInterface); ok {
		return s.SavePoint(tx, name)
	}
	return gorm.ErrUnsupportedDriver
}

func (d dialector) RollbackTo(tx *gorm.DB, name string) error {
	if s, ok := d.Dialector.(gorm.SavePointerDialectorInterface); ok {
		return s.RollbackTo(tx, name)
	}
	return gorm.ErrUnsupportedDriver
}

func (d dialector) Translate(err error) error {
	if t, ok := d.Dialector.(gorm.ErrorTranslator); ok {
		return t.Translate(err)
	}
	return err
}

// migrator is a database's own, whose models are prepared. It calls itself through the database's dialector.
type migrator struct {
	gorm.Migrator
	db      *gorm.DB
	columns *columns
	all     *models
}

var _ gormmigrator.BuildIndexOptionsInterface = migrator{}

// prepare returns what is wrong with models. It leaves it to GORM to refuse what is none.
func (m migrator) prepare(models ...any) error {
	for _, model := range models {
		stmt := &gorm.Statement{DB: m.db}
		if err := stmt.ParseWithSpecialTableName(model, m.db.Statement.Table); err != nil {
			continue
		}
		if err := m.all.see(stmt.Schema); err != nil {
			return err
		}
		m.columns.prepareModel(stmt.Schema)
	}
	return nil
}

func (m migrator) AutoMigrate(models ...any) error {
	if err := m.prepare(models...); err != nil {
		return err
	}
	return m.Migrator.AutoMigrate(models...)
}

func (m migrator) CreateTable(models ...any) error {
	if err := m.prepare(models...); err != nil {
		return err
	}
	return m.Migrator.CreateTable(models...)
}

func (m migrator) AddColumn(model any, field string) error {
	if err := m.prepare(model); err != nil {
		return err
	}
	return m.Migrator.AddColumn(model, field)
}

func (m migrator) AlterColumn(model any, field string) error {
	if err := m.prepare(model); err != nil {
		return err
	}
	return m.Migrator.AlterColumn(model, field)
}

func (m migrator) RenameColumn(model any, from, to string) error {
	if err := m.prepare(model); err != nil {
		return err
	}
	return m.Migrator.RenameColumn(model, from, to)
}

// MigrateColumn spares a column of ClickHouse that has its type already: GORM compares NOT NULL and DEFAULT as well, which it does
// not read right there, and would change each column each time. A primary key of another type GORM would leave as it is.
func (m migrator) MigrateColumn(model any, field *schema.Field, is gorm.ColumnType) error {
	ours := m.columns.prepare(field)
	if ours && m.columns.dialect == "clickhouse" && !field.HasDefaultValue && strings.EqualFold(is.DatabaseTypeName(), string(field.DataType)) {
		return nil
	}
	if ours && m.columns.dialect != "sqlite" && field.PrimaryKey && !field.AutoIncrement && !field.IgnoreMigration && !m.is(field, is) {
		return newError(field.Schema, field.Schema.Table, fmt.Errorf("the primary key %s is of type %s in the database, "+
			"and its IDs need %s: GORM never changes the type of a primary key: change it yourself, "+
			"or ask for its type by a tag if that holds the IDs",
			field.DBName, is.DatabaseTypeName(), m.db.Dialector.DataTypeOf(field)))
	}
	return m.Migrator.MigrateColumn(model, field, is)
}

// is reports whether a column has the type of its field, by one of the names that the database has for it, or one that holds the same. A
// name is the beginning of a type that says a collation as well.
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
	return slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(want+" ", name+" ") })
}

func (m migrator) FullDataTypeOf(field *schema.Field) clause.Expr {
	m.columns.prepare(field)
	return m.Migrator.FullDataTypeOf(field)
}

// BuildIndexOptions is not in GORM's interface, but GORM relies on it.
func (m migrator) BuildIndexOptions(options []schema.IndexOption, stmt *gorm.Statement) []any {
	if b, ok := m.Migrator.(gormmigrator.BuildIndexOptionsInterface); ok {
		return b.BuildIndexOptions(options, stmt)
	}
	return gormmigrator.Migrator{Config: gormmigrator.Config{DB: m.db, Dialector: m.db.Dialector}}.BuildIndexOptions(options, stmt)
}
