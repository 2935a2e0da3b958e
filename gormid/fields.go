package gormid

import (
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// field is the field of a column, or nil where the statement's model does not tell.
func (b *builder) field(column any) *schema.Field {
	c, ok := column.(clause.Column)
	if name, isName := column.(string); isName {
		c, ok = clause.Column{Name: name}, true
	}
	s := b.stmt.Schema
	if !ok || s == nil {
		return nil
	}
	if table, name, dotted := cutLast(quotes.Replace(c.Name)); dotted && c.Table == "" {
		c.Table, c.Name = table, name
	} else {
		c.Name = name
	}
	if !slices.Contains([]string{"", clause.CurrentTable, b.stmt.Table, s.Table}, c.Table) {
		if s = b.related(c.Table); s == nil {
			return nil
		}
	}
	if c.Name == clause.PrimaryKey {
		return s.PrioritizedPrimaryField
	}
	if field := s.LookUpField(c.Name); field != nil {
		return field
	}
	for _, name := range s.DBNames { // databases take the names of columns in any case
		if strings.EqualFold(name, c.Name) {
			return s.FieldsByDBName[name]
		}
	}
	return nil
}

// related is the model of a joined table, by its name, the relation's, or an alias.
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

// cutLast parts a column from its table.
func cutLast(name string) (table, column string, dotted bool) {
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return "", name, false
	}
	return name[:i], name[i+1:], true
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
