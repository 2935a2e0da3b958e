package gorm_test

import (
	"context"
	"fmt"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// An operation is something that an app does with GORM.
type operation[K comparable, N any] struct {
	name string
	uses use
	do   func(w *world[K, N]) outcome
}

// What an operation does with the key.
type use int

const (
	aKey       use = iota // it takes the key in any form
	inline                // by itself, as a condition
	inSQL                 // in SQL of the caller's own, where nothing tells the column
	noBytes               // GORM itself drops a []byte there, whatever the column is
	aList                 // it takes a list of keys
	aListInSQL            // in SQL of the caller's own
	nothing               // it takes none
)

func people[K comparable, N any](w *world[K, N], read func(into *[]Person[K, N]) *gorm.DB) outcome {
	var into []Person[K, N]
	tx := read(&into)
	o := outcome{err: tx.Error, affected: tx.RowsAffected}
	for _, name := range names(into) {
		o.found += name + " "
	}
	return o
}

func person[K comparable, N any](w *world[K, N], read func(into *Person[K, N]) *gorm.DB) outcome {
	var into Person[K, N]
	tx := read(&into)
	return outcome{err: tx.Error, affected: tx.RowsAffected, found: into.Name + " under " +
		w.nameOfPointer(into.BossID)}
}

func done(tx *gorm.DB) outcome { return outcome{err: tx.Error, affected: tx.RowsAffected} }

// M is a map that GORM takes for values, or for conditions.
type M = map[string]any

type DB = *gorm.DB

// A condition selects people by a value.
type condition = func(db DB, v any) DB

// conditions read, count and delete by a key.
func conditions[K comparable, N any]() (all []operation[K, N]) {
	type w = *world[K, N]
	type into = *[]Person[K, N]
	model := func(w w) *gorm.DB { return w.db.Model(&Person[K, N]{}) }
	for name, read := range map[string]func(db DB, p *Person[K, N], v any) DB{
		"First": func(db DB, p *Person[K, N], v any) DB { return db.First(p, v) },
		"Take":  func(db DB, p *Person[K, N], v any) DB { return db.Take(p, v) },
		"Last":  func(db DB, p *Person[K, N], v any) DB { return db.Last(p, v) },
		"FirstOrCreate": func(db DB, p *Person[K, N], v any) DB {
			return db.FirstOrCreate(p, v)
		},
	} {
		all = append(all, operation[K, N]{name, inline, func(w w) outcome {
			return person(w, func(p *Person[K, N]) *gorm.DB { return read(w.db, p, w.of("bob")) })
		}})
	}
	for name, where := range map[string]condition{
		"Where": func(db DB, v any) DB { return db.Where(v) },
		"Not":   func(db DB, v any) DB { return db.Not(v) },
		"Or":    func(db DB, v any) DB { return db.Where("name = ?", "eve").Or(v) },
		"a group": func(db DB, v any) DB {
			return db.Where(db.Where(v).Or("name = ?", "eve")).Where("name <> ?", "x")
		},
	} {
		all = append(all, operation[K, N]{"Find, " + name, inline, func(w w) outcome {
			return people(w, func(p into) *gorm.DB { return where(w.db, w.of("bob")).Find(p) })
		}}, operation[K, N]{"Delete, " + name, inline, func(w w) outcome {
			return done(where(w.db, w.of("eve")).Where("name <> ?", "ann").Delete(&Card[K, N]{}))
		}}, operation[K, N]{"Update, " + name, inline, func(w w) outcome {
			return done(where(model(w), w.of("bob")).Update("name", "bo"))
		}}, operation[K, N]{"Count, " + name, inline, func(w w) outcome {
			var n int64
			tx := where(model(w), w.of("bob")).Count(&n)
			return outcome{err: tx.Error, affected: n}
		}})
	}
	all = append(all, []operation[K, N]{
		{"Find", inline, func(w w) outcome {
			return people(w, func(p into) *gorm.DB { return w.db.Find(p, w.of("bob")) })
		}},
		{"Having", inline, func(w w) outcome {
			var found []string
			return done(model(w).Select("name").Group("id, name").Having(w.of("bob")).Find(&found))
		}},
		{"generic Where", inline, func(w w) outcome {
			found, err := gorm.G[Person[K, N]](w.db).Where(w.of("bob")).Find(context.Background())
			return outcome{err: err, affected: int64(len(found))}
		}},
		{"Delete", inline, func(w w) outcome {
			return done(w.db.Delete(&Person[K, N]{}, w.of("eve")))
		}},
		{"soft Delete", inline, func(w w) outcome {
			return done(w.db.Where(
				w.db.Where("owner_id", w.key("bob")),
			).Not(w.of("eve")).Delete(&Thing[K, N]{}))
		}},
		{"generic Delete", inline, func(w w) outcome {
			n, err := gorm.G[Person[K, N]](w.db).Where(w.of("eve")).Delete(context.Background())
			return outcome{err: err, affected: int64(n)}
		}},
		{"Association.Find", inline, func(w w) outcome {
			ann := Person[K, N]{ID: w.key("ann")}
			return people(w, func(p into) *gorm.DB {
				err := w.db.Model(&ann).Association("Reports").Find(p, w.of("bob"))
				return &gorm.DB{Error: err}
			})
		}},
		{"Preload", inline, func(w w) outcome {
			var ann Person[K, N]
			o := done(w.db.Preload("Reports", w.of("bob")).First(&ann, "name = ?", "ann"))
			o.found = fmt.Sprint(names(ann.Reports))
			return o
		}},
		{"Raw", inSQL, func(w w) outcome {
			return people(w, func(p into) *gorm.DB {
				return w.db.Raw("SELECT * FROM staff WHERE boss_id = ?", w.of("ann")).Scan(p)
			})
		}},
		{"Exec", inSQL, func(w w) outcome {
			return done(w.db.Exec("DELETE FROM staff WHERE id = ?", w.of("eve")))
		}},
	}...)
	for name, where := range map[string]condition{
		"Where ?":      func(db DB, v any) DB { return db.Where("boss_id = ?", v) },
		"Where IN (?)": func(db DB, v any) DB { return db.Where("boss_id IN (?)", v) },
		"Not ?":        func(db DB, v any) DB { return db.Not("boss_id = ?", v) },
		"Where @name":  func(db DB, v any) DB { return db.Where("boss_id = @b", M{"b": v}) },
		"a join's":     func(db DB, v any) DB { return db.Joins(joinByOwner, v) },
		"by a subquery": func(db DB, v any) DB {
			return db.Where("id NOT IN (?)", ids[K, N](db).Where("id = ?", v))
		},
	} {
		all = append(all, operation[K, N]{name, inSQL, func(w w) outcome {
			return people(w, func(p into) *gorm.DB { return where(w.db, w.of("ann")).Find(p) })
		}})
	}
	for name, where := range columnConditions[K, N]() {
		all = append(all, operation[K, N]{"Find by " + name, aKey, func(w w) outcome {
			return people(w, func(p into) *gorm.DB { return where(w.db, w.of("ann")).Find(p) })
		}}, operation[K, N]{"Delete by " + name, aKey, func(w w) outcome {
			return done(where(w.db.Where("name NOT IN ?", []string{"ann", "bob"}),
				w.of("ann")).Delete(&Person[K, N]{}))
		}}, operation[K, N]{"Update by " + name, aKey, func(w w) outcome {
			return done(where(model(w), w.of("ann")).UpdateColumn("mentor", w.key("eve")))
		}})
	}
	return all
}

const joinByOwner = "JOIN things ON things.owner_id = staff.id AND things.owner_id = ?"

// ids is a subquery of people.
func ids[K comparable, N any](db *gorm.DB) *gorm.DB {
	return db.Session(&gorm.Session{NewDB: true}).Model(&Person[K, N]{}).Select("id")
}

// columnConditions are the ways to compare a column with a value.
func columnConditions[K comparable, N any]() map[string]condition {
	return map[string]condition{
		"column":         func(db DB, v any) DB { return db.Where("boss_id", v) },
		"map":            func(db DB, v any) DB { return db.Where(M{"boss_id": v}) },
		"map with table": func(db DB, v any) DB { return db.Where(M{"staff.boss_id": v}) },
		"Not column":     func(db DB, v any) DB { return db.Not("boss_id", v) },
		"Not map":        func(db DB, v any) DB { return db.Not(M{"boss_id": v}) },
		"Eq": func(db DB, v any) DB {
			return db.Where(clause.Eq{Column: "boss_id", Value: v})
		},
		"Neq": func(db DB, v any) DB {
			return db.Where(clause.Neq{Column: "boss_id", Value: v})
		},
		"Gte and Lte": func(db DB, v any) DB {
			return db.Where(
				clause.Gte{Column: "boss_id", Value: v},
			).Clauses(clause.Lte{Column: "boss_id", Value: v})
		},
		"IN": func(db DB, v any) DB {
			return db.Where(clause.IN{Column: "boss_id", Values: []any{v}})
		},
		"Or map": func(db DB, v any) DB {
			return db.Where("name = ?", "eve").Or(M{"boss_id": v})
		},
		"nested": func(db DB, v any) DB {
			return db.Where(
				clause.Not(clause.And(clause.Or(clause.Eq{Column: "boss_id", Value: v}))),
			)
		},
		"in a subquery": func(db DB, v any) DB {
			return db.Where("id IN (?)", ids[K, N](db).Where("boss_id", v))
		},
		"not in a subquery": func(db DB, v any) DB {
			return db.Where("id NOT IN (?)", ids[K, N](db).Where(M{"boss_id": v}))
		},
		"a scope": func(db DB, v any) DB {
			return db.Scopes(func(db *gorm.DB) *gorm.DB { return db.Where("boss_id", v) })
		},
	}
}
