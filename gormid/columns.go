package gormid

import (
	"database/sql/driver"
	"maps"
	"reflect"
	"sync"

	"gorm.io/gorm/schema"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/dialect"
	"github.com/idmint/idmint/internal/keys"
)

// columnOf returns the type of an ID's column in a database, or "" if GORM's driver derives the
// right type from GormDataType.
func columnOf(name string, id column, null bool) string {
	d, form := dialect.Dialect(name), id.Storage()
	switch {
	case d == dialect.ClickHouse && form == idtype.StorageText:
		// The driver would store an ID's bytes in a FixedString.
		return nullable("String", null)
	case d == dialect.ClickHouse:
		return nullable(keys.Column(d, id, false), null)
	case form == idtype.StorageText && (d == dialect.Postgres || d == dialect.MySQL),
		form == idtype.StorageBytes && d == dialect.MySQL:
		return keys.Column(d, id, false)
	}
	return ""
}

// nullable returns a type of ClickHouse.
func nullable(name string, null bool) string {
	if null {
		return "Nullable(" + name + ")"
	}
	return name
}

// column is the interface of an ID's type that describes its column.
type column interface {
	keys.ID
	driver.Valuer
	GormDataType() string
}

// columnIn returns the ID that a field of type t holds, and whether the field can be NULL. GORM
// examines a field's type in the same way.
func columnIn(t reflect.Type) (id column, null bool) {
	found, null := keys.In(t)
	id, _ = found.(column)
	return id, null
}

// columns writes the types of the columns of IDs into the models that GORM has parsed.
type columns struct {
	dialect string
	noTests bool       // keys get a CHECK
	mu      sync.Mutex // guards the fields of all models among migrators
}

// prepareModel runs each time, because GORM copies types to foreign keys whenever it meets a model
// that refers to another.
func (c *columns) prepareModel(s *schema.Schema) {
	for _, field := range s.Fields {
		c.prepare(field)
		if c.noTests && field.PrimaryKey {
			c.refuseTests(field)
		}
	}
}

// refuseTests gives a key the tag of a CHECK. It replaces the tags, which others may be reading.
func (c *columns) refuseTests(field *schema.Field) {
	id, _ := columnIn(field.FieldType)
	if id == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	check := keys.NoTests(id, dialect.Dialect(c.dialect).Quote(field.DBName))
	if check == "" || field.TagSettings["CHECK"] != "" {
		return
	}
	tags := map[string]string{"CHECK": check}
	maps.Copy(tags, field.TagSettings)
	field.TagSettings = tags
}

// prepare gives a field of IDs its type, and reports whether it has it. A field with another type
// is left unchanged. It may have that type from a tag, from a method, or as a foreign key to such a
// field. A foreign key may already have the type of the key, from before or after the key was
// prepared.
func (c *columns) prepare(field *schema.Field) bool {
	id, null := columnIn(field.FieldType)
	if id != nil && field.PrimaryKey && c.dialect == "sqlite" { // the others do so themselves
		c.mu.Lock()
		field.NotNull = true
		c.mu.Unlock()
	}
	if id == nil || field.TagSettings["TYPE"] != "" {
		return false
	}
	null = null && !field.NotNull && !field.PrimaryKey
	plain, name := columnOf(c.dialect, id, false), columnOf(c.dialect, id, null)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch t := string(field.DataType); {
	case t == name, name == "" && t == id.GormDataType():
		return true
	case name == "" || t != plain && t != id.GormDataType():
		return false
	}
	field.DataType = schema.DataType(name)
	return true
}
