package gorm_test

import (
	"context"

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

// conditions read, count and delete by a key.
func conditions[K comparable, N any]() []operation[K, N] {
	type w = *world[K, N]
	type into = *[]Person[K, N]
	model := func(w w) *gorm.DB { return w.db.Model(&Person[K, N]{}) }
	all := []operation[K, N]{
		{"First", inline, func(w w) outcome {
			return person(w, func(p *Person[K, N]) *gorm.DB { return w.db.First(p, w.of("bob")) })
		}},
		{"Take", inline, func(w w) outcome {
			return person(w, func(p *Person[K, N]) *gorm.DB { return w.db.Take(p, w.of("bob")) })
		}},
		{"Last", inline, func(w w) outcome {
			return person(w, func(p *Person[K, N]) *gorm.DB { return w.db.Last(p, w.of("bob")) })
		}},
		{"Find", inline, func(w w) outcome {
			return people(w, func(p into) *gorm.DB { return w.db.Find(p, w.of("bob")) })
		}},
		{"Where inline", inline, func(w w) outcome {
			return people(w, func(p into) *gorm.DB { return w.db.Where(w.of("bob")).Find(p) })
		}},
		{"Not inline", inline, func(w w) outcome {
			return people(w, func(p into) *gorm.DB { return w.db.Not(w.of("bob")).Find(p) })
		}},
		{"Or inline", inline, func(w w) outcome {
			return people(w, func(p into) *gorm.DB {
				return w.db.Where("name = ?", "eve").Or(w.of("bob")).Find(p)
			})
		}},
		{"a group of conditions", inline, func(w w) outcome {
			return people(w, func(p into) *gorm.DB {
				return w.db.Where(w.db.Where(w.of("bob")).Or("name = ?", "eve")).Where("name <> ?",
					"x").Find(p)
			})
		}},
		{"Count", inline, func(w w) outcome {
			var n int64
			tx := model(w).Where(w.of("bob")).Count(&n)
			return outcome{err: tx.Error, affected: n}
		}},
		{"Having", inline, func(w w) outcome {
			var found []string
			tx := model(w).Select("name").Group("id, name").Having(w.of("bob")).Find(&found)
			return outcome{err: tx.Error, affected: tx.RowsAffected}
		}},
		{"generic Where", inline, func(w w) outcome {
			found, err := gorm.G[Person[K, N]](w.db).Where(w.of("bob")).Find(context.Background())
			return outcome{err: err, affected: int64(len(found))}
		}},
		{"Delete", inline, func(w w) outcome {
			return done(w.db.Delete(&Person[K, N]{}, w.of("eve")))
		}},
		{"Where, Delete", inline, func(w w) outcome {
			return done(w.db.Where(w.of("eve")).Delete(&Person[K, N]{}))
		}},
		{"Not, Delete", inline, func(w w) outcome {
			return done(w.db.Not(w.of("eve")).Where("name <> ?", "ann").Delete(&Card[K, N]{}))
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
		{"Updates by key", inline, func(w w) outcome {
			return done(model(w).Where(w.of("bob")).Update("name", "bo"))
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
			tx := w.db.Preload("Reports", w.of("bob")).First(&ann, "name = ?", "ann")
			o := done(tx)
			for _, name := range names(ann.Reports) {
				o.found += name + " "
			}
			return o
		}},
		{"FirstOrCreate inline", inline, func(w w) outcome {
			return person(w, func(p *Person[K, N]) *gorm.DB {
				return w.db.FirstOrCreate(p, w.of("bob"))
			})
		}},
		{"Where ?", inSQL, func(w w) outcome {
			return people(w, func(p into) *gorm.DB {
				return w.db.Where("boss_id = ?", w.of("ann")).Find(p)
			})
		}},
		{"Where IN (?)", inSQL, func(w w) outcome {
			return people(w, func(p into) *gorm.DB {
				return w.db.Where("boss_id IN (?)", w.of("ann")).Find(p)
			})
		}},
		{"Not ?", inSQL, func(w w) outcome {
			return people(w, func(p into) *gorm.DB {
				return w.db.Not("boss_id = ?", w.of("ann")).Find(p)
			})
		}},
		{"Where @name", inSQL, func(w w) outcome {
			return people(w, func(p into) *gorm.DB {
				return w.db.Where("boss_id = @boss", map[string]any{"boss": w.of("ann")}).Find(p)
			})
		}},
		{"Raw", inSQL, func(w w) outcome {
			return people(w, func(p into) *gorm.DB {
				return w.db.Raw("SELECT * FROM staff WHERE boss_id = ?", w.of("ann")).Scan(p)
			})
		}},
		{"Exec", inSQL, func(w w) outcome {
			return done(w.db.Exec("DELETE FROM staff WHERE id = ?", w.of("eve")))
		}},
		{"a condition of Joins", inSQL, func(w w) outcome {
			return people(w, func(p into) *gorm.DB {
				return w.db.Joins(
					"JOIN things ON things.owner_id = staff.id AND things.owner_id = ?",
					w.of("bob")).Find(p)
			})
		}},
		{"a subquery by SQL", inSQL, func(w w) outcome {
			return people(w, func(p into) *gorm.DB {
				return w.db.Where("id NOT IN (?)",
					model(w).Select("id").Where("id = ?", w.of("bob"))).Find(p)
			})
		}},
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

// columnConditions are the ways to compare a column with a value.
func columnConditions[K comparable, N any]() map[string]func(db *gorm.DB, v any) *gorm.DB {
	return map[string]func(db *gorm.DB, v any) *gorm.DB{
		"column": func(db *gorm.DB, v any) *gorm.DB { return db.Where("boss_id", v) },
		"map": func(db *gorm.DB, v any) *gorm.DB {
			return db.Where(map[string]any{"boss_id": v})
		},
		"map with table": func(db *gorm.DB, v any) *gorm.DB {
			return db.Where(map[string]any{"staff.boss_id": v})
		},
		"Eq": func(db *gorm.DB, v any) *gorm.DB {
			return db.Where(clause.Eq{Column: "boss_id", Value: v})
		},
		"Neq": func(db *gorm.DB, v any) *gorm.DB {
			return db.Where(clause.Neq{Column: "boss_id", Value: v})
		},
		"Gte and Lte": func(db *gorm.DB, v any) *gorm.DB {
			return db.Where(
				clause.Gte{Column: "boss_id", Value: v},
			).Clauses(clause.Lte{Column: "boss_id", Value: v})
		},
		"IN": func(db *gorm.DB, v any) *gorm.DB {
			return db.Where(clause.IN{Column: "boss_id", Values: []any{v}})
		},
		"Not column": func(db *gorm.DB, v any) *gorm.DB { return db.Not("boss_id", v) },
		"Not map": func(db *gorm.DB, v any) *gorm.DB {
			return db.Not(map[string]any{"boss_id": v})
		},
		"Or map": func(db *gorm.DB, v any) *gorm.DB {
			return db.Where("name = ?", "eve").Or(map[string]any{"boss_id": v})
		},
		"nested": func(db *gorm.DB, v any) *gorm.DB {
			return db.Where(
				clause.Not(clause.And(clause.Or(clause.Eq{Column: "boss_id", Value: v}))),
			)
		},
		"in a subquery": func(db *gorm.DB, v any) *gorm.DB {
			sub := db.Session(&gorm.Session{NewDB: true}).Model(&Person[K, N]{}).Select(
				"id").Where("boss_id", v)
			return db.Where("id IN (?)", sub)
		},
		"not in a subquery": func(db *gorm.DB, v any) *gorm.DB {
			sub := db.Session(&gorm.Session{NewDB: true}).Model(&Person[K, N]{}).Select(
				"id").Where(map[string]any{"boss_id": v})
			return db.Where("id NOT IN (?)", sub)
		},
		"a scope": func(db *gorm.DB, v any) *gorm.DB {
			return db.Scopes(func(db *gorm.DB) *gorm.DB { return db.Where("boss_id", v) })
		},
	}
}
