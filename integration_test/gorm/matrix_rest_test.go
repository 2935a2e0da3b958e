package gorm_test

import (
	"fmt"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// stale reads NULL into rows that held a key.
func stale[K comparable, N any]() []operation[K, N] {
	type w = *world[K, N]
	// cut cuts a link behind the back of a row that was read, which then does something, and is
	// saved.
	cut := func(then func(w w, p *Person[K, N]) error) func(w) outcome {
		return func(w w) outcome {
			var p Person[K, N]
			if err := w.db.Session(&gorm.Session{}).First(&p, "name = ?", "bob").Error; err != nil {
				return outcome{err: err}
			}
			const text = "UPDATE staff SET boss_id = NULL, mentor = NULL WHERE name = 'bob'"
			if err := w.db.Exec(text).Error; err != nil {
				return outcome{err: err}
			}
			if err := then(w, &p); err != nil {
				return outcome{err: err}
			}
			o := outcome{found: w.nameOfPointer(p.BossID) + fmt.Sprintf(", %d", len(p.Name))}
			o.err = w.db.Omit(clause.Associations).Save(&p).Error
			return o
		}
	}
	null := func(w w, p *Person[K, N], v any) error {
		return w.db.Model(p).Updates(map[string]any{"boss_id": v}).Error
	}
	return []operation[K, N]{
		{"First into the same struct", nothing, cut(func(w w, p *Person[K, N]) error {
			return w.db.First(p).Error
		})},
		{"Raw into the same struct", nothing, cut(func(w w, p *Person[K, N]) error {
			return w.db.Raw("SELECT * FROM staff WHERE id = ?", p.ID).Scan(p).Error
		})},
		{"rows into the same struct", nothing, cut(func(w w, p *Person[K, N]) error {
			rows, err := w.db.Model(p).Where("id = ?", p.ID).Rows()
			if err != nil {
				return err
			}
			defer rows.Close()
			for rows.Next() {
				if err := w.db.ScanRows(rows, p); err != nil {
					return err
				}
			}
			return rows.Err()
		})},
		{"a part of the columns", nothing, cut(func(w w, p *Person[K, N]) error {
			return w.db.Select("id", "mentor").First(p).Error
		})},
		{"Updates nil", nothing, cut(func(w w, p *Person[K, N]) error { return null(w, p, nil) })},
		{"Updates NULL by SQL", nothing, cut(func(w w, p *Person[K, N]) error {
			if err := null(w, p, gorm.Expr("NULL")); err != nil {
				return err
			}
			return w.db.First(p).Error
		})},
		{"RETURNING", nothing, cut(func(w w, p *Person[K, N]) error {
			if w.db.Name() == "mysql" { // MariaDB returns nothing from an update
				return w.db.First(p).Error
			}
			return w.db.Model(p).Clauses(clause.Returning{}).Update("name", "bob").Error
		})},
		{"a slice that is read again", nothing, func(w w) outcome {
			var all []Person[K, N]
			if err := w.db.Order("name DESC").Find(&all).Error; err != nil {
				return outcome{err: err}
			}
			return people(w, func(p *[]Person[K, N]) *gorm.DB {
				*p = all
				return w.db.Order("name").Where("boss_id IS NULL").Find(p)
			})
		}},
	}
}

// single reads columns of keys.
func single[K comparable, N any]() []operation[K, N] {
	type w = *world[K, N]
	where := func(w w) *gorm.DB { return w.db.Model(&Person[K, N]{}).Where("name = ?", "bob") }
	return []operation[K, N]{
		{"Row", nothing, func(w w) outcome {
			var key K
			err := where(w).Select("id").Row().Scan(&key)
			return outcome{err: err, found: w.nameOf(key)}
		}},
		{"Pluck many", nothing, func(w w) outcome {
			var keys []K
			o := done(w.db.Model(&Person[K, N]{}).Order("name").Pluck("id", &keys))
			for _, key := range keys {
				o.found += w.nameOf(key) + " "
			}
			return o
		}},
		{"Pluck pointers", nothing, func(w w) outcome {
			var keys []*K
			o := done(w.db.Model(&Person[K, N]{}).Order("name").Pluck("boss_id", &keys))
			for _, key := range keys {
				o.found += w.nameOfPointer(key) + " "
			}
			return o
		}},
		{"FindInBatches", nothing, func(w w) outcome {
			var batch []Person[K, N]
			var all []Person[K, N]
			o := done(w.db.FindInBatches(&batch, 2, func(*gorm.DB, int) error {
				all = append(all, batch...)
				return nil
			}))
			o.found = fmt.Sprint(names(all))
			return o
		}},
	}
}

// pasted runs a statement as the log shows it.
func pasted[K comparable, N any]() []operation[K, N] {
	type w = *world[K, N]
	paste := func(do func(tx *gorm.DB, w w) *gorm.DB) func(w) outcome {
		return func(w w) outcome {
			text := w.db.ToSQL(func(tx *gorm.DB) *gorm.DB { return do(tx, w) })
			// MariaDB counts no row of an INSERT with RETURNING
			return outcome{err: w.db.Exec(text).Error}
		}
	}
	return []operation[K, N]{
		{"pasted delete", nothing, paste(func(tx *gorm.DB, w w) *gorm.DB {
			return tx.Delete(&Person[K, N]{}, "id = ?", w.key("eve"))
		})},
		{"pasted NOT IN", nothing, paste(func(tx *gorm.DB, w w) *gorm.DB {
			return tx.Delete(&Person[K, N]{},
				"boss_id IS NOT NULL AND name <> 'bob' AND id NOT IN ?", []K{w.key("cem")})
		})},
		{"pasted update", nothing, paste(func(tx *gorm.DB, w w) *gorm.DB {
			return tx.Model(&Person[K, N]{}).Where("id = ?", w.key("bob")).UpdateColumn("boss_id",
				w.key("eve"))
		})},
		{"pasted insert", nothing, paste(func(tx *gorm.DB, w w) *gorm.DB {
			return tx.Create(&Remark[K]{ID: w.key("ann"), Name: "pasted", ParentID: w.key("bob")})
		})},
		{"pasted wrapper", nothing, paste(func(tx *gorm.DB, w w) *gorm.DB {
			eve := w.key("eve")
			return tx.Model(&Person[K, N]{}).Where("id = ?", w.key("bob")).UpdateColumn("boss_id",
				&eve)
		})},
	}
}

// zeros are conditions and assignments of a key that nobody set.
func zeros[K comparable, N any]() []operation[K, N] {
	type w = *world[K, N]
	var zero K
	model := func(w w) *gorm.DB { return w.db.Model(&Person[K, N]{}) }
	return append([]operation[K, N]{
		{"zero inline", nothing, func(w w) outcome {
			return done(w.db.Delete(&Person[K, N]{}, zero))
		}},
		{"zero of a struct", nothing, func(w w) outcome {
			return done(w.db.Where(&Person[K, N]{BossID: &zero}).Delete(&Person[K, N]{}))
		}},
		{"zero in Delete", nothing, func(w w) outcome {
			return done(w.db.Delete(&Person[K, N]{}, "boss_id", zero))
		}},
		{"zero by ?", nothing, func(w w) outcome {
			return done(w.db.Delete(&Person[K, N]{}, "boss_id = ?", zero))
		}},
		{"zero in FirstOrCreate", nothing, func(w w) outcome {
			return done(w.db.Assign(map[string]any{"name": "adopted"}).FirstOrCreate(
				&Person[K, N]{}, map[string]any{"boss_id": zero},
			))
		}},
		{"zero in Updates", nothing, func(w w) outcome {
			return done(model(w).Where("1 = 1").Updates(map[string]any{"boss_id": zero}))
		}},
		{"zero in Save", nothing, func(w w) outcome {
			return done(w.db.Save(&Thing[K, N]{ID: w.key("axe"), Name: "axe"}))
		}},
		{"zero in Select, Updates", nothing, func(w w) outcome {
			return done(
				w.db.Model(&Thing[K, N]{ID: w.key("axe")}).Select("OwnerID").Updates(Thing[K, N]{}),
			)
		}},
		{"zero in Create", nothing, func(w w) outcome {
			return done(w.db.Create(&Thing[K, N]{Name: "dog"}))
		}},
		{"zero in a map", nothing, func(w w) outcome {
			return done(model(w).Create(map[string]any{"name": "fay", "boss_id": zero}))
		}},
	}, conditionsOf(func(w w) any { return zero })...)
}

// conditionsOf deletes by the ways to name a column.
func conditionsOf[K comparable, N any](value func(w *world[K, N]) any) (ops []operation[K, N]) {
	for name, where := range columnConditions[K, N]() {
		ops = append(ops, operation[K, N]{"Delete by " + name, nothing, func(w *world[K, N]) outcome {
			return done(where(w.db.Where("name NOT IN ?", []string{"ann", "bob"}),
				value(w)).Delete(&Person[K, N]{}))
		}})
	}
	return ops
}
