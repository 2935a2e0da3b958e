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

// dialector is a database's own, with a migrator that knows the columns of IDs. It has all methods
// that are optional in GORM. Each does as GORM does for a dialector without it.
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

// migrator is a database's own, whose models are prepared. The database's migrator calls itself
// through the dialector.
type migrator struct {
	gorm.Migrator
	db      *gorm.DB
	columns *columns
	all     *models
}

var _ gormmigrator.BuildIndexOptionsInterface = migrator{}

// prepare returns what is wrong with models. GORM refuses what is none.
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

func (m migrator) FullDataTypeOf(field *schema.Field) clause.Expr {
	m.columns.prepare(field)
	return m.Migrator.FullDataTypeOf(field)
}

// BuildIndexOptions is not in GORM's interface, but GORM relies on it.
func (m migrator) BuildIndexOptions(options []schema.IndexOption, stmt *gorm.Statement) []any {
	if b, ok := m.Migrator.(gormmigrator.BuildIndexOptionsInterface); ok {
		return b.BuildIndexOptions(options, stmt)
	}
	config := gormmigrator.Config{DB: m.db, Dialector: m.db.Dialector}
	return gormmigrator.Migrator{Config: config}.BuildIndexOptions(options, stmt)
}
