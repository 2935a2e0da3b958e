package gorm_test

import (
	"fmt"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// writes store a key that is given in a map, or in a struct.
func writes[K comparable, N any]() []operation[K, N] {
	type w = *world[K, N]
	bob := func(w w) *gorm.DB { return w.db.Model(&Person[K, N]{ID: w.key("bob")}) }
	var all []operation[K, N]
	for name, update := range map[string]condition{
		"Updates map":              func(db DB, v any) DB { return db.Updates(M{"boss_id": v}) },
		"Updates map by field":     func(db DB, v any) DB { return db.Updates(M{"BossID": v}) },
		"Updates map of a wrapper": func(db DB, v any) DB { return db.Updates(M{"mentor": v}) },
		"Updates *map":             func(db DB, v any) DB { return db.Updates(&M{"boss_id": v}) },
		"Update":                   func(db DB, v any) DB { return db.Update("boss_id", v) },
		"UpdateColumn":             func(db DB, v any) DB { return db.UpdateColumn("boss_id", v) },
		"UpdateColumns":            func(db DB, v any) DB { return db.UpdateColumns(M{"boss_id": v}) },
		"Set clause": func(db DB, v any) DB {
			return db.Clauses(clause.Set{{Column: clause.Column{Name: "boss_id"}, Value: v}}).Updates(M{})
		},
	} {
		all = append(all, operation[K, N]{name, aKey, func(w w) outcome {
			return done(update(bob(w), w.of("eve")))
		}})
	}
	return append(all, []operation[K, N]{
		{"Updates map into the model", aKey, func(w w) outcome {
			p := Person[K, N]{ID: w.key("bob")}
			o := done(w.db.Model(&p).Updates(M{"boss_id": w.of("eve")}))
			o.found = w.nameOfPointer(p.BossID)
			return o
		}},
		{"Updates map of a table", aKey, func(w w) outcome {
			return done(w.db.Model(&Thing[K, N]{}).Where("name = ?", "axe").Updates(
				M{"owner_id": w.of("eve")},
			))
		}},
		{"Create map", aKey, func(w w) outcome {
			return done(w.db.Model(&Person[K, N]{}).Create(
				M{"name": "fay", "boss_id": w.of("eve")},
			))
		}},
		{"Create map by field", aKey, func(w w) outcome {
			return done(w.db.Model(&Person[K, N]{}).Create(
				M{"Name": "fay", "BossID": w.of("eve"), "Mentor": w.of("bob")},
			))
		}},
		{"Create maps", aKey, func(w w) outcome {
			rows := []M{
				{"name": "fay", "boss_id": w.of("eve")},
				{"name": "gus", "boss_id": nil},
			}
			return done(w.db.Model(&Person[K, N]{}).Create(&rows))
		}},
		{"upsert by assignments", aKey, func(w w) outcome {
			conflict := clause.OnConflict{
				Columns: []clause.Column{{Name: "holder_id"}},
				DoUpdates: clause.Assignments(
					M{"holder_id": w.of("eve"), "name": "upserted"},
				),
			}
			return done(w.db.Clauses(conflict).Create(&Card[K, N]{HolderID: w.key("ann")}))
		}},
		{"FirstOrCreate map", aKey, func(w w) outcome {
			return person(w, func(p *Person[K, N]) *gorm.DB {
				return w.db.FirstOrCreate(p, M{"boss_id": w.of("eve")})
			})
		}},
		{"Attrs, FirstOrCreate", noBytes, func(w w) outcome {
			return person(w, func(p *Person[K, N]) *gorm.DB {
				return w.db.Where(M{"name": "fay"}).Attrs(
					M{"boss_id": w.of("eve")},
				).FirstOrCreate(p)
			})
		}},
		{"Assign, FirstOrCreate", noBytes, func(w w) outcome {
			return person(w, func(p *Person[K, N]) *gorm.DB {
				return w.db.Where(M{"name": "bob"}).Assign(
					M{"boss_id": w.of("eve")},
				).FirstOrCreate(p)
			})
		}},
		{"Assign, FirstOrInit", aKey, func(w w) outcome {
			return person(w, func(p *Person[K, N]) *gorm.DB {
				return w.db.Where(M{"name": "none"}).Assign("boss_id",
					w.of("eve")).FirstOrInit(p)
			})
		}},
		{"FirstOrInit map", aKey, func(w w) outcome {
			return person(w, func(p *Person[K, N]) *gorm.DB {
				return w.db.FirstOrInit(p, M{"boss_id": w.of("eve")})
			})
		}},
		{"Update by SQL", inSQL, func(w w) outcome {
			return done(bob(w).Update("boss_id", gorm.Expr("?", w.of("eve"))))
		}},
		{"Update by a subquery", aKey, func(w w) outcome {
			sub := w.db.Model(&Person[K, N]{}).Select("id").Where(M{"id": w.of("eve")})
			return done(w.db.Model(&Thing[K, N]{}).Where("name = ?", "axe").Update("owner_id", sub))
		}},
	}...)
}

// lists take several keys.
func lists[K comparable, N any]() []operation[K, N] {
	type w = *world[K, N]
	type into = *[]Person[K, N]
	all := []operation[K, N]{}
	for name, where := range map[string]condition{
		"inline":     func(db DB, v any) DB { return db.Where(v) },
		"Not inline": func(db DB, v any) DB { return db.Not(v) },
		"column":     func(db DB, v any) DB { return db.Where("id", v) },
		"Not column": func(db DB, v any) DB { return db.Not("id", v) },
		"map":        func(db DB, v any) DB { return db.Where(M{"id": v}) },
		"Not map":    func(db DB, v any) DB { return db.Not(M{"id": v}) },
		"IN ?":       func(db DB, v any) DB { return db.Where("id IN ?", v) },
		"IN (?)":     func(db DB, v any) DB { return db.Where("id IN (?)", v) },
		"NOT IN ?":   func(db DB, v any) DB { return db.Where("id NOT IN ?", v) },
		"NOT IN (?)": func(db DB, v any) DB { return db.Where("id NOT IN (?)", v) },
		"Eq":         func(db DB, v any) DB { return db.Where(clause.Eq{Column: "id", Value: v}) },
		"Neq":        func(db DB, v any) DB { return db.Where(clause.Neq{Column: "id", Value: v}) },
		"in a subquery": func(db DB, v any) DB {
			return db.Where("id NOT IN (?)", ids[K, N](db).Where("id", v))
		},
	} {
		uses := aList
		if strings.Contains(name, "?") {
			uses = aListInSQL
		}
		all = append(all, operation[K, N]{"Find by list, " + name, uses, func(w w) outcome {
			return people(w, func(p into) *gorm.DB {
				return where(w.db, w.list("bob", "eve")).Find(p)
			})
		}}, operation[K, N]{"Delete by list, " + name, uses, func(w w) outcome {
			return done(where(w.db.Where("name NOT IN ?", []string{"ann", "bob"}),
				w.list("bob", "eve")).Delete(&Person[K, N]{}))
		}}, operation[K, N]{"Find by a list of one, " + name, uses, func(w w) outcome {
			return people(w, func(p into) *gorm.DB { return where(w.db, w.list("bob")).Find(p) })
		}})
	}
	return all
}

// relations are saved, read and cut with the keys as they are.
func relations[K comparable, N any]() []operation[K, N] {
	type w = *world[K, N]
	load := func(w w, name string) *Person[K, N] {
		var p Person[K, N]
		if err := w.db.Preload(clause.Associations).First(&p, "name = ?", name).Error; err != nil {
			panic(err)
		}
		return &p
	}
	show := func(w w, p *Person[K, N], err error) outcome {
		o := outcome{err: err}
		if p == nil {
			return o
		}
		o.found = fmt.Sprintf("%s under %s, seen %d, %d things, %d notes, card %t", p.Name,
			w.nameOfPointer(p.BossID), p.Seen,
			len(p.Things), len(p.Notes), p.Card != nil)
		return o
	}
	return []operation[K, N]{
		{"Preload all", nothing, func(w w) outcome { return show(w, load(w, "ann"), nil) }},
		{"Joins", nothing, func(w w) outcome {
			var found []Person[K, N]
			tx := w.db.Joins("Boss").Order("staff.name").Find(&found)
			o := done(tx)
			for _, p := range found {
				if p.Boss != nil {
					o.found += p.Name + " under " + p.Boss.Name + " " + w.nameOfPointer(p.BossID) +
						"; "
				}
			}
			return o
		}},
		{"Joins with conditions", aKey, func(w w) outcome {
			var found []Person[K, N]
			tx := w.db.InnerJoins(
				"Boss", w.db.Where(M{"id": w.of("ann")})).Find(&found)
			o := done(tx)
			for _, name := range names(found) {
				o.found += name + " "
			}
			return o
		}},
		{"Create with relations", nothing, func(w w) outcome {
			p := Person[K, N]{
				Name: "fay", Boss: &Person[K, N]{Name: "gus"},
				Things: []Thing[K, N]{{Name: "dog", Notes: []Remark[K]{{Name: "on dog"}}}},
				Notes:  []Remark[K]{{Name: "on fay"}},
				Card:   &Card[K, N]{CardBase: CardBase[K]{Name: "card of fay"}},
			}
			return done(w.db.Create(&p))
		}},
		{"Create in batches", nothing, func(w w) outcome {
			return done(w.db.CreateInBatches(
				[]Person[K, N]{{Name: "fay"}, {Name: "gus"}, {Name: "hal"}}, 2,
			))
		}},
		{"hooks", nothing, func(w w) outcome {
			return done(w.db.Create(&Person[K, N]{Name: "hooked"}))
		}},
		{"a hook refuses", nothing, func(w w) outcome {
			return done(w.db.Create(&[]Person[K, N]{{Name: "fay"}, {Name: "bad"}}))
		}},
		{"a hook of an update", nothing, func(w w) outcome {
			p, eve := load(w, "bob"), w.key("eve")
			return done(w.db.Model(p).Updates(Person[K, N]{BossID: &eve}))
		}},
		{"Save", nothing, func(w w) outcome {
			p, eve := load(w, "dan"), w.key("eve")
			p.BossID, p.Boss = &eve, nil
			return done(w.db.Save(p))
		}},
		{"Save a struct without key", nothing, func(w w) outcome {
			return done(w.db.Save(&Person[K, N]{Name: "fay"}))
		}},
		{"Save with relations", nothing, func(w w) outcome {
			p := load(w, "bob")
			p.Things[0].Name = "chest"
			return done(w.db.Session(&gorm.Session{FullSaveAssociations: true}).Save(p))
		}},
		{"Append", nothing, func(w w) outcome {
			p := load(w, "bob")
			err := w.db.Model(p).Association("Things").Append(&Thing[K, N]{Name: "dog"})
			return show(w, p, err)
		}},
		{"Append polymorphic", nothing, func(w w) outcome {
			err := w.db.Model(load(w, "eve")).Association("Notes").Append(&Remark[K]{Name: "on eve"})
			return show(w, nil, err)
		}},
		{"Append belongs to", nothing, func(w w) outcome {
			p := load(w, "eve")
			err := w.db.Model(p).Association(
				"Boss").Append(&Person[K, N]{ID: w.key("cem"), Name: "cem"})
			return show(w, p, err)
		}},
		{"Replace", nothing, func(w w) outcome {
			p := load(w, "ann")
			err := w.db.Model(p).Association("Notes").Replace([]Remark[K]{{Name: "only"}})
			return show(w, p, err)
		}},
		{"Delete association", nothing, func(w w) outcome {
			p := load(w, "bob")
			err := w.db.Model(p).Association("Boss").Delete(p.Boss)
			o := show(w, p, err)
			if err == nil {
				o.err = w.db.Save(p).Error // which must not write the link back
			}
			return o
		}},
		{"Clear belongs to", nothing, func(w w) outcome {
			p := load(w, "bob")
			err := w.db.Model(p).Association("Boss").Clear()
			o := show(w, p, err)
			if err == nil {
				o.err = w.db.Omit(clause.Associations).Save(p).Error
			}
			return o
		}},
		{"Clear has many", nothing, func(w w) outcome {
			p := load(w, "ann")
			return show(w, p, w.db.Model(p).Association("Reports").Clear())
		}},
		{"Association.Count", nothing, func(w w) outcome {
			p := load(w, "bob")
			return outcome{affected: w.db.Model(p).Association("Notes").Count() +
				10*w.db.Model(p).Association("Things").Count()}
		}},
		{"Delete with Select", nothing, func(w w) outcome {
			p := load(w, "bob")
			w.db.Where("boss_id = ?", p.ID).Delete(&Person[K, N]{})
			return done(w.db.Unscoped().Select("Things").Delete(p))
		}},
		{"a foreign key that is none", nothing, func(w w) outcome {
			return done(w.db.Create(&Thing[K, N]{Name: "dog", OwnerID: w.key("axe")}))
		}},
		{"Delete of one who is referred to", nothing, func(w w) outcome {
			return done(w.db.Delete(load(w, "ann")))
		}},
		{"soft deleted", nothing, func(w w) outcome {
			p := load(w, "bob")
			o := done(w.db.Delete(&p.Things[0]))
			if o.err == nil {
				o.found = fmt.Sprint(len(load(w, "bob").Things))
			}
			return o
		}},
	}
}
