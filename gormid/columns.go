package gormid

import (
	"database/sql/driver"
	"reflect"
	"sync"

	"gorm.io/gorm/schema"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/dialect"
)

// columnOf names the type of an ID's column for a database. It returns "" where GORM's driver makes
// the right one of the type's GormDataType.
func columnOf(name string, id column, null bool) string {
	d, form := dialect.Dialect(name), id.Storage()
	size := int(reflect.TypeOf(id).Size())
	if form == idtype.StorageText {
		size = textSize(id)
	}
	switch {
	case d == dialect.ClickHouse && form == idtype.StorageText:
		// the driver takes an ID's bytes for a FixedString
		return nullable("String", null)
	case d == dialect.ClickHouse:
		return nullable(dialect.Column(d, string(form), size), null)
	case form == idtype.StorageText && (d == dialect.Postgres || d == dialect.MySQL),
		form == idtype.StorageBytes && d == dialect.MySQL:
		return dialect.Column(d, string(form), size)
	}
	return ""
}

// nullable is a type of ClickHouse.
func nullable(name string, null bool) string {
	if null {
		return "Nullable(" + name + ")"
	}
	return name
}

// column is what an ID's type says of its column.
type column interface {
	AppendText([]byte) ([]byte, error)
	Storage() idtype.Storage
	GormDataType() string
}

func textSize(id column) int {
	text, _ := id.AppendText(nil)
	return len(text)
}

// columnIn finds the ID that a field of type t holds, and whether the field can be NULL. A type
// holds an ID if it is one, or if it is a Valuer whose first field is one, such as sql.Null. GORM
// looks at a field's type in the same way.
func columnIn(t reflect.Type) (id column, null bool) {
	for {
		for t.Kind() == reflect.Pointer {
			t, null = t.Elem(), true
		}
		value := reflect.Zero(t).Interface()
		if id, ok := value.(column); ok {
			return id, null
		}
		if _, ok := value.(driver.Valuer); !ok || t.Kind() != reflect.Struct || t.NumField() == 0 {
			return nil, false
		}
		null = null || t.PkgPath() == "database/sql"
		t = t.Field(0).Type
	}
}

// columns writes the types of the columns of IDs into the models that GORM has parsed.
type columns struct {
	dialect string
	mu      sync.Mutex // of the fields of all models, among migrators
}

// prepareModel is called each time: GORM copies types to foreign keys whenever it meets a model
// that refers to another.
func (c *columns) prepareModel(s *schema.Schema) {
	for _, field := range s.Fields {
		c.prepare(field)
	}
}

// prepare gives a field of IDs its type, and reports whether it is one. A field that has another
// type stays as it is. It may have that by a tag, by a method of its own, or as a foreign key to
// such a field. A foreign key may have the type of the key already, from before or after that was
// prepared.
func (c *columns) prepare(field *schema.Field) bool {
	id, null := columnIn(field.FieldType)
	if id != nil && field.PrimaryKey && c.dialect == "sqlite" { // all others do so by themselves
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
