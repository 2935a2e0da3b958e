package gorm_test

import (
	"database/sql"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gorm.io/driver/clickhouse"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/idmint/idmint/gormid"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/sqlid"
)

// Reading is a row of ClickHouse, which has no relations, no transactions, and no pointers that are
// nil.
type Measured[K, N any] struct {
	ID     K `gorm:"primaryKey"`
	Name   string
	Device N
}

func (Measured[K, N]) TableName() string { return "readings" }

// A query reads readings by a key, or by a list of keys, in any form.
type query struct {
	name   string
	isList bool
	isSQL  bool // of the caller's own
	where  condition
}

func queries[K, N any]() []query {
	return []query{
		{"inline", false, false, func(db DB, v any) DB { return db.Where(v) }},
		{"Not inline", false, false, func(db DB, v any) DB { return db.Not(v) }},
		{"column", false, false, func(db DB, v any) DB { return db.Where("id", v) }},
		{"map", false, false, func(db DB, v any) DB { return db.Where(M{"device": v}) }},
		{"Not map", false, false, func(db DB, v any) DB { return db.Not(M{"id": v}) }},
		{"?", false, true, func(db DB, v any) DB { return db.Where("id = ?", v) }},
		{"not in a subquery", false, false, func(db DB, v any) DB {
			sub := db.Session(&gorm.Session{NewDB: true}).Model(&Measured[K, N]{}).Select(
				"id").Where(M{"id": v})
			return db.Where("id NOT IN (?)", sub)
		}},
		{"list inline", true, false, func(db DB, v any) DB { return db.Where(v) }},
		{"list, column", true, false, func(db DB, v any) DB { return db.Where("id", v) }},
		{"list, Not map", true, false, func(db DB, v any) DB { return db.Not(M{"id": v}) }},
		{"list, IN ?", true, true, func(db DB, v any) DB { return db.Where("id IN ?", v) }},
	}
}

// read is what a query reads, by GORM and pasted as the log shows it.
func read[K, N any](db *gorm.DB, q query, v any) string {
	var found []Measured[K, N]
	tx := q.where(db, v).Find(&found)
	if tx.Error != nil {
		return "error: " + tx.Error.Error()
	}
	show := func(found []Measured[K, N]) string {
		var names []string
		for _, r := range found {
			names = append(names, r.Name)
		}
		slices.Sort(names)
		return fmt.Sprint(names)
	}
	text := db.ToSQL(func(tx *gorm.DB) *gorm.DB { return q.where(tx, v).Find(&[]Measured[K, N]{}) })
	var pasted []Measured[K, N]
	if err := db.Raw(text).Scan(&pasted).Error; err != nil {
		return show(found) + ", pasted an error: " + err.Error()
	}
	return fmt.Sprintf("%s, pasted %s, %d rows", show(found), show(pasted), tx.RowsAffected)
}

func openClickHouse[K comparable, N any](
	t *testing.T, readings []Measured[K, N], use ...gorm.Plugin,
) *gorm.DB {
	t.Helper()
	db, err := gorm.Open(clickhouse.Open(dbtest.New(t, databases.ClickHouse).Source()),
		&gorm.Config{Logger: logger.Discard})
	try(t, err)
	pool := made(db.DB())
	t.Cleanup(func() { pool.Close() })
	for _, plugin := range use {
		try(t, db.Use(plugin))
	}
	inOrder := db.Set("gorm:table_options", "ENGINE = MergeTree ORDER BY id")
	try(t, inOrder.AutoMigrate(&Measured[K, N]{}))
	try(t, db.Create(&readings).Error)
	for i := range readings {
		readings[i].ID = made(keyOf[K, N](db, readings[i].Name))
	}
	return db
}

func keyOf[K comparable, N any](db *gorm.DB, name string) (key K, err error) {
	err = db.Model(&Measured[K, N]{}).Where("name = ?", name).Select("id").Row().Scan(&key)
	return key, err
}

func TestMatrixClickHouse(t *testing.T) {
	t.Parallel()
	plain := []Measured[int64, sql.NullInt64]{
		{ID: 11, Name: "a"},
		{ID: 12, Name: "b"},
		{ID: 13, Name: "c"},
	}
	db := openClickHouse(t, plain)
	want := map[string]string{}
	for _, q := range queries[int64, sql.NullInt64]() {
		v := any(int64(11))
		if q.isList {
			v = []int64{11, 12}
		}
		want[q.name] = read[int64, sql.NullInt64](db, q, v)
	}
	tried := 0
	for _, k := range keyTests {
		if *whole || k.name == "sno" {
			tried += k.clickHouse(t, want)
		}
	}
	t.Logf("%d cells in ClickHouse", tried)
}

func clickHouse[K idtype.ID](t *testing.T, want map[string]string) (tried int) {
	var zero K
	t.Run(fmt.Sprintf("%s as %s", zero.Scheme(), zero.Storage()), func(t *testing.T) {
		rows := []Measured[K, sqlid.Null[K]]{{Name: "a"}, {Name: "b"}, {Name: "c"}}
		db := openClickHouse(t, rows, gormid.NewRules(append(rules, gormid.Lenient())...))
		columns := make([]any, len(rows))
		for i, r := range rows {
			m := map[string]any{}
			try(t, db.Model(&r).Where("name = ?", r.Name).Take(&m).Error)
			columns[i] = m["id"]
		}
		keys := []K{rows[0].ID, rows[1].ID}
		for _, f := range forms[K]() {
			for _, q := range queries[K, sqlid.Null[K]]() {
				if q.isSQL && (f.Loose || f.Name == fromMap) || q.isList && f.List == nil {
					continue
				}
				v := f.One(keys[0], columns[0])
				if q.isList {
					v = f.List(keys, columns[:2])
				}
				tried++
				got := read[K, sqlid.Null[K]](db, q, v)
				isWord := f.Loose && !q.isList && strings.HasSuffix(q.name, "inline") &&
					strings.HasPrefix(got, "error")
				if got != want[q.name] && !isWord {
					t.Errorf("%s by %s: %s\nan int64 has %s", q.name, f.Name, got, want[q.name])
				}
			}
		}
		for _, q := range queries[K, sqlid.Null[K]]() {
			tried++
			v := any(zero)
			if q.isList {
				v = []K{zero}
			}
			if got := read[K, sqlid.Null[K]](db, q, v); !strings.HasPrefix(got, "error") {
				t.Errorf("%s by zero: %s", q.name, got)
			}
		}
		var ids []K
		if err := db.Model(&rows[0]).Where("name = ?", "b").Pluck("id", &ids).Error; err != nil ||
			len(ids) != 1 || ids[0] != rows[1].ID {
			t.Errorf("Pluck: %v, %v", ids, err)
		}
	})
	return tried
}

// GORM names the fields of a join table after the models, and a generic type's name is no name of a
// field. So the models of many2many stand here once per type of key. Each has a join table of its
// own, with a key of two parts and a column more.
type (
	intMember struct {
		ID     int64
		Name   string
		Badges []intBadge `gorm:"many2many:badged"`
	}
	intBadge struct {
		ID   int64
		Name string `gorm:"unique"`
	}
	intBadged struct {
		IntMemberID int64  `gorm:"primaryKey"`
		IntBadgeID  int64  `gorm:"primaryKey"`
		Color       string `gorm:"default:red"`
	}

	snoMember struct {
		ID     idtype.Sno[snoMember]
		Name   string
		Badges []snoBadge `gorm:"many2many:badged"`
	}
	snoBadge struct {
		ID   idtype.Sno[idtype.AsUUID[snoBadge]]
		Name string `gorm:"unique"`
	}
	snoBadged struct {
		SnoMemberID idtype.Sno[snoMember]               `gorm:"primaryKey"`
		SnoBadgeID  idtype.Sno[idtype.AsUUID[snoBadge]] `gorm:"primaryKey"`
		Color       string                              `gorm:"default:red"`
	}

	textMember struct {
		ID     idtype.Sno[idtype.AsText[textMember]]
		Name   string
		Badges []textBadge `gorm:"many2many:badged"`
	}
	textBadge struct {
		ID   idtype.Short[textBadge]
		Name string `gorm:"unique"`
	}
	textBadged struct {
		TextMemberID idtype.Sno[idtype.AsText[textMember]] `gorm:"primaryKey"`
		TextBadgeID  idtype.Short[textBadge]               `gorm:"primaryKey"`
		Color        string                                `gorm:"default:red"`
	}
)

func TestMatrixMany2Many(t *testing.T) {
	for _, s := range settings() {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			want := badges[intMember, intBadge, intBadged](t, s)
			for name, got := range map[string]string{
				"sno, as bytes and UUID": badges[snoMember, snoBadge, snoBadged](t, s),
				"sno as text, and short": badges[textMember, textBadge, textBadged](t, s),
			} {
				if got != want {
					t.Errorf("%s:\n%s\nan int64 has\n%s", name, got, want)
				}
			}
		})
	}
}

// badges does what is done with many2many, and tells what there is after each step.
func badges[M, B, J any](t *testing.T, s setting) (log string) {
	t.Helper()
	db := connect(t, s)
	try(t, db.SetupJoinTable(new(M), "Badges", new(J)))
	try(t, db.AutoMigrate(new(M), new(B), new(J)))
	member := func(name string, badges ...string) *M {
		m := new(M)
		v := reflect.ValueOf(m).Elem()
		v.FieldByName("Name").SetString(name)
		for _, badge := range badges {
			b := new(B)
			reflect.ValueOf(b).Elem().FieldByName("Name").SetString(badge)
			v.FieldByName(
				"Badges").Set(reflect.Append(v.FieldByName("Badges"), reflect.ValueOf(b).Elem()))
		}
		return m
	}
	load := func(name string) *M {
		m := new(M)
		made(0, db.Preload("Badges").First(m, "name = ?", name).Error)
		return m
	}
	of := func(m *M) *[]B {
		return reflect.ValueOf(m).Elem().FieldByName("Badges").Addr().Interface().(*[]B)
	}
	tell := func(step string, err error) {
		log += fmt.Sprintf("%s: %t", step, err == nil)
		var members []M
		if err := db.Preload("Badges", func(db *gorm.DB) *gorm.DB {
			return db.Order("name")
		}).Order("name").Find(&members).Error; err != nil {
			t.Fatal(err)
		}
		for i := range members {
			log += fmt.Sprintf(" %v", reflect.ValueOf(members[i]).FieldByName("Name"))
			for _, b := range *of(&members[i]) {
				log += fmt.Sprintf("-%v", reflect.ValueOf(b).FieldByName("Name"))
			}
		}
		var colors []sql.NullString
		try(t, db.Model(new(J)).Pluck("color", &colors).Error)
		log += fmt.Sprintf(" %d labels, %d badges\n", len(colors), made(count[B](db)))
	}
	tell("create", db.Create([]*M{member("ann", "blue", "tall"), member("bob", "red")}).Error)
	tell("create another", db.Create(member("cem", "new")).Error)
	ann, bob := load("ann"), load("bob")
	tell("append one that is there", db.Model(bob).Association("Badges").Append(&(*of(ann))[0]))
	tell("append again", db.Model(bob).Association("Badges").Append(&(*of(ann))[0]))
	tell("save", db.Save(load("ann")).Error)
	tell("delete", db.Model(ann).Association("Badges").Delete(&(*of(ann))[0]))
	log += fmt.Sprintf("%d left, %d counted\n", len(*of(ann)),
		db.Model(bob).Association("Badges").Count())
	tell("replace", db.Model(bob).Association("Badges").Replace(of(member("", "fresh"))))
	one := slices.Clone(*of(load("bob")))
	id := reflect.ValueOf(one[0]).FieldByName("ID").Interface()
	var found []B
	err := db.Model(bob).Association("Badges").Find(&found, id)
	log += fmt.Sprintf("found %d, %v\n", len(found), err)
	tell("select, delete", db.Select("Badges").Delete(load("bob")).Error)
	tell("clear", db.Model(ann).Association("Badges").Clear())
	tell("delete one that is referred to", db.Delete(load("cem")).Error)
	return log
}

func count[T any](db *gorm.DB) (n int64, err error) {
	err = db.Model(new(T)).Count(&n).Error
	return n, err
}
