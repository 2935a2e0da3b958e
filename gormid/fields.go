package gormid

import (
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// field returns the field of a column, or nil if the statement's model does not determine it.
func (b *builder) field(column any) *schema.Field {
	c, ok := column.(clause.Column)
	if name, isName := column.(string); isName {
		c, ok = clause.Column{Name: name}, true
	}
	s := b.stmt.Schema
	if !ok || s == nil {
		return nil
	}
	name := quotes.Replace(c.Name)
	dot := strings.LastIndexByte(name, '.')
	if c.Name = name[dot+1:]; dot >= 0 && c.Table == "" {
		c.Table = name[:dot]
	}
	if !slices.Contains([]string{"", clause.CurrentTable, b.stmt.Table, s.Table}, c.Table) {
		if s = b.related(c.Table); s == nil {
			return nil
		}
	}
	if c.Name == clause.PrimaryKey {
		return s.PrioritizedPrimaryField
	}
	if field := lookUp(s, c.Name); field != nil || s != b.stmt.Schema {
		return field
	}
	var field *schema.Field // of another model of the table, of which the statement's may be a part
	b.in.known.Range(func(k, _ any) bool {
		if other := k.(*schema.Schema); other.Table == b.stmt.Table {
			field = lookUp(other, c.Name)
		}
		return field == nil
	})
	return field
}

// lookUp finds a field by its name or its column's name, in which databases ignore case.
func lookUp(s *schema.Schema, name string) *schema.Field {
	if field := s.LookUpField(name); field != nil {
		return field
	}
	for _, column := range s.DBNames {
		if strings.EqualFold(column, name) {
			return s.FieldsByDBName[column]
		}
	}
	return nil
}

// related returns the model of a joined table, by its name, the relation's name, or an alias.
func (b *builder) related(table string) *schema.Schema {
	s := b.stmt.Schema
	for _, join := range b.stmt.Joins {
		if join.Alias == table && join.Alias != "" {
			table = join.Name
		}
	}
	s.Relationships.Mux.RLock()
	defer s.Relationships.Mux.RUnlock()
	for path := range strings.SplitSeq(strings.ReplaceAll(table, "__", "."), ".") {
		rel := s.Relationships.Relations[path]
		if rel == nil {
			s = nil
			break
		}
		s = rel.FieldSchema
	}
	if s != nil {
		return s
	}
	for _, rel := range b.stmt.Schema.Relationships.Relations {
		for _, other := range []*schema.Schema{rel.FieldSchema, rel.JoinTable} {
			if other != nil && other.Table == table {
				return other
			}
		}
	}
	return nil
}

var quotes = strings.NewReplacer(`"`, "", "`", "")

func columnName(column any) string {
	if c, ok := column.(clause.Column); ok {
		if c.Name == clause.PrimaryKey {
			return "the primary key"
		}
		return c.Name
	}
	return fmt.Sprint(column)
}
