package gorm_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/idmint/idmint/gormid"
	"github.com/idmint/idmint/idtype"
)

// Paper has keys of each storage form that integers and bytes have, and a column of JSON.
type (
	Paper struct {
		ID     idtype.SnoID
		Short  *idtype.ShortID
		Number idtype.OrZero[idtype.DecimalID]
		Big    *idtype.EightByte[idtype.AsBigint[Paper]]
		Name   string
		Lists  idtype.Slice[idtype.DecimalID]
		Sheets []Sheet
	}
	Sheet struct {
		ID      idtype.EightByteID
		PaperID idtype.SnoID
		Paper   *Paper
	}
)

func newPapers(t *testing.T, d database) (*gorm.DB, []Paper) {
	t.Helper()
	db := d.open(t, rules...)
	migrate(t, db, &Paper{}, &Sheet{})
	short := idtype.MustParse[idtype.ShortID]("xinaS8QBh")
	papers := []Paper{
		{Name: "a", Short: &short, Sheets: make([]Sheet, 2)},
		{Name: "b"},
		{Name: "c"},
	}
	must(t, db.Create(&papers))
	return db, papers
}

// What cannot be an ID of its column ends the statement before it is sent, with an error that says
// where and why.
func testRefusals(t *testing.T, d database) {
	db, papers := newPapers(t, d)
	raw, slice := papers[0].ID[:], idtype.Slice[idtype.SnoID]{papers[0].ID}
	remove := func(condition any) error { return db.Delete(&Paper{}, condition).Error }
	where := func(column string, v any) error { return db.Where(M{column: v}).Delete(&Paper{}).Error }
	inTable := func() *gorm.DB { return db.Table("papers") }
	set := func(v any) error { return db.Model(&Paper{}).Where("1 = 1").Update("short", v).Error }
	const (
		model    = "gormid: gorm_test.Paper (table papers): "
		isZero   = "a condition on Short: the ID is zero: set it first; for NULL, write IS NULL or pass nil"
		setZero  = model + "Short of type *idtype.ShortID is zero: set it, or give nil for NULL"
		isText   = "Short of type *idtype.ShortID: idtype: "
		isNoList = "an idtype.Slice is a single JSON text: pass a []ID"
	)
	upsert := clause.OnConflict{
		Columns: []clause.Column{{Name: "id"}}, DoUpdates: clause.Assignments(M{"short": "?"}),
	}
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"zero":           {db.Where("short", idtype.ShortID(0)).Delete(&Paper{}).Error, model + isZero},
		"zero in a list": {remove([]idtype.SnoID{papers[0].ID, {}}), "a condition on ID: the ID is zero"},
		"zero without a model": {
			inTable().Where("short", idtype.ShortID(0)).Delete(nil).Error,
			"gormid: table papers: a condition on short: the ID is zero",
		},
		"a negative": {where("short", idtype.ShortID(-5)), `"-5" as ShortID: IDs must be positive`},
		"another scheme": {
			remove(idtype.DecimalID(5)),
			model + "a condition on ID: 5 of type idtype.DecimalID does not fit: the field holds " +
				"idtype.SnoID, stored as bytes",
		},
		"an integer": {remove(5), `int64 "5" as SnoID`},
		"a bool":     {where("id", true), `bool "true" as SnoID`},
		"a float": {
			where("short", 1.5e15),
			model + "a condition on Short: a float loses digits of an ID: pass an ID, its text or an " +
				"integer; json.Decoder.UseNumber keeps all digits of JSON numbers",
		},
		"bytes of another length": {remove(raw[:9]), "9 bytes, want 10"},
		"no text of an ID":        {where("id", "nothing"), `"nothing" as SnoID`},
		"a UUID by itself": {
			remove("39706634-1111-4222-8333-123456789012"),
			`a condition on ID: idtype: "39706634-1111-4222-8333-123456789012" as SnoID`,
		},
		"digits by themselves": {
			remove("99999999999999999999"), `"99999999999999999999" as SnoID`,
		},
		"a number by itself": {db.Not("1").Delete(&Paper{}).Error, `"1" as SnoID`},
		"a value for two keys": {
			db.Delete(&KeyPair{}, "39706634-1111").Error,
			`gormid: gorm_test.KeyPair (table key_pairs): the condition "39706634-1111" is a single ` +
				`value, but the primary key has several columns: name one, as in Where("column", value)`,
		},
		"bytes without a model": {
			inTable().Where(M{"id": raw}).Delete(nil).Error,
			"gormid: table papers: a condition on id: without a model, these 10 bytes may be an ID " +
				"or a list: write = ? or IN ?",
		},
		"a Slice without a model": {
			inTable().Not("id", slice).Delete(nil).Error, "a condition on id: " + isNoList,
		},
		"a Slice in ANY": {db.Where("id = ANY(?)", slice).Delete(&Paper{}).Error, isNoList},
		"a Slice in raw SQL": {
			db.Exec("DELETE FROM papers WHERE id NOT IN (?)", slice[:0]).Error, isNoList,
		},
		"a Slice by name": {
			db.Where("id NOT IN @ids", sql.Named("ids", slice[:0])).Delete(&Paper{}).Error, isNoList,
		},
		"a Slice beside a key": {db.Where("id <> ?", slice[:0]).Delete(&Paper{}).Error, isNoList},
		"a zero in a map":      {set(idtype.ShortID(0)), setZero},
		"a 0 in a map":         {set(0), setZero},
		"digits of a short ID": {set("11093174944930914"), isText + `"11093174944930914" as ShortID`},
		"a list in a map": {
			set([]idtype.ShortID{5}),
			model + "Short of type *idtype.ShortID: a list instead of one ID: pass one ID, or " +
				"write IN ? for a list",
		},
		"a text in a map that is created": {
			db.Model(&Paper{}).Create([]M{{"name": "x"}, {"name": "y", "short": "?"}}).Error,
			"row 1: " + isText + `"?" as ShortID`,
		},
		"a text in an upsert": {
			db.Clauses(upsert).Create(&Paper{ID: papers[0].ID}).Error, isText + `"?" as ShortID`,
		},
	} {
		var e *gormid.Error
		if !errors.As(test.err, &e) || !strings.Contains(test.err.Error(), test.want) {
			t.Errorf("%s: error %v\nwant %s", name, test.err, test.want)
		}
	}
	wantColumn(t, db, "SELECT name FROM papers", "a", "b", "c")
	wantColumn(t, db, "SELECT count(*) FROM papers WHERE short IS NULL", 2)
}

// Row has no place for an error but the row.
func testRefusalOfRow(t *testing.T, d database) {
	db, _ := newPapers(t, d)
	var e *gormid.Error
	if err := db.Model(&Paper{}).Select("name").Where("short",
		idtype.ShortID(0)).Row().Scan(new(string)); !errors.As(err, &e) {
		t.Errorf("error %v", err)
	}
	rows, err := db.Model(&Paper{}).Where("short", idtype.ShortID(0)).Rows()
	if rows != nil || !errors.As(err, &e) {
		t.Errorf("error %v", err)
	}
}

// A subquery's error is lost to GORM, and SQLite takes an empty list.
func testRefusalInSubquery(t *testing.T, d database) {
	db, papers := newPapers(t, d)
	for name, sub := range map[string]*gorm.DB{
		"a zero": db.Model(&Paper{}).Select("id").Where("short", idtype.ShortID(0)),
		"a Slice": db.Model(&Paper{}).Select("id").Where("id <> ?",
			idtype.Slice[idtype.SnoID]{papers[0].ID}),
		"a Slice in raw SQL": db.Raw("SELECT id FROM papers WHERE id NOT IN (?)",
			idtype.Slice[idtype.SnoID]{papers[0].ID}),
		"a refused model": db.Model(&NotAlias{}).Select("id"),
	} {
		var e *gormid.Error
		if err := db.Where("id NOT IN (?)", sub).Delete(&Paper{}).Error; !errors.As(err, &e) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	wantColumn(t, db, "SELECT name FROM papers", "a", "b", "c")
}

// What is no ID is GORM's and the database's, as without the plugin.
func testOtherConditionsAreLeftAlone(t *testing.T, d database) {
	db, papers := newPapers(t, d)
	list := idtype.Slice[idtype.DecimalID]{7, 8}
	must(t, db.Model(&Paper{}).Where("name = ?", "a").Update("lists", list))
	must(t, db.Exec("UPDATE papers SET lists = ? WHERE name = 'b'", list))
	for name, tx := range map[string]*gorm.DB{
		"SQL":                     db.Where("1 = 1"),
		"a column":                db.Where("length(id)"),
		"a value by SQL":          db.Where("length(name) > ?", gorm.Expr("0")),
		"a value in an equality":  db.Where(M{"number": gorm.Expr("0")}),
		"a number by SQL":         db.Where(gorm.Expr("1")),
		"a Slice of JSON":         db.Where("name < 'c' AND lists = ? OR name = 'c'", list),
		"numbers of a byte":       db.Where("length(name) IN (?)", []byte{1, 2, 3, 4, 5, 6, 7, 8}),
		"bytes of another column": db.Where("name IN (?) OR name = 'c'", []string{"a", "b"}),
		"json_each": db.Where("id NOT IN (SELECT unhex(value) FROM json_each(?))",
			idtype.Slice[idtype.SnoID]{}),
		"a bound": db.Where(clause.Gte{Column: "number", Value: 0}),
		"a tuple": db.Where("(name, number) IN ?",
			[][]any{{"a", 0}, {"b", 0}, {"c", 0}}),
	} {
		var n int64
		if err := tx.Model(&Paper{}).Count(&n).Error; err != nil || n != 3 {
			t.Errorf("%s: %d rows, %v", name, n, err)
		}
	}
	var found []Paper
	must(t, db.Where(&Paper{Lists: list}).Find(&found))
	if len(found) != 2 {
		t.Errorf("by a column of JSON: %v", found)
	}
	must(t, db.Where("number", idtype.OrZero[idtype.DecimalID]{}).Find(&found))
	if len(found) != 3 {
		t.Errorf("by none: %v", found)
	}
	var sheets []Sheet
	must(t, db.Joins("JOIN papers p ON p.id = sheets.paper_id AND p.id = ?", papers[0].ID).
		Where(M{"p.name": "a"}).Find(&sheets))
	must(t, db.InnerJoins("Paper", db.Where(M{"id": papers[0].ID[:]})).
		Where(M{"Paper.id": papers[0].ID.String()}).Find(&sheets))
	if len(sheets) != 2 {
		t.Errorf("joined: %v", sheets)
	}
	if err := db.InnerJoins(
		"Paper", db.Where(M{"short": "?"})).Find(&sheets).Error; err == nil {
		t.Error("a joined relation takes any text")
	}
}

// A text by itself is the key if it cannot be the name of a column. So it is today, and when the
// texts of sno begin with letters.
func testTextsByThemselves(t *testing.T, d database) {
	db, papers := newPapers(t, d)
	late := Paper{ID: idtype.MustParse[idtype.SnoID]("a34tuf2222222222"), Name: "late"}
	must(t, db.Create(&late))
	for _, want := range []Paper{papers[0], late} {
		var found Paper
		must(t, db.First(&found, want.ID.String()))
		if found.ID != want.ID {
			t.Errorf("by %s: %v", want.ID, found)
		}
	}
	err := db.First(&Paper{}, "abcdefghijklmnop").Error
	if !errors.Is(err, gorm.ErrRecordNotFound) {
		t.Errorf("by another ID: %v", err)
	}
	var n int64
	if err := db.Model(&Paper{}).Where("name").Count(&n).Error; err != nil {
		t.Errorf("by a column: %v", err)
	}
	if err := db.First(&Paper{}, "nothing").Error; err == nil ||
		errors.Is(err, gorm.ErrRecordNotFound) {
		t.Errorf("by what is no column: %v", err)
	}
}

// Patch is what an app decodes JSON into.
type Patch struct {
	Short *string
	Name  string
}

// Texts are read as the field's type, wherever they come from.
func testTextsOfPatches(t *testing.T, d database) {
	db, papers := newPapers(t, d)
	const text = "12345678" // the text of one short ID, and digits of another
	id := idtype.MustParse[idtype.ShortID](text)
	for name, do := range map[string]func() *gorm.DB{
		"a patch": func() *gorm.DB {
			p := text
			return db.Model(&papers[1]).Updates(Patch{Short: &p})
		},
		"generic": func() *gorm.DB {
			return updateGeneric(db, papers[1].ID, M{"short": text})
		},
		"a named string": func() *gorm.DB {
			type named string
			return db.Model(&papers[1]).Update("short", named(text))
		},
		"sql.NullString": func() *gorm.DB {
			return db.Model(&papers[1]).Update("short", sql.NullString{String: text, Valid: true})
		},
		"pointer to text": func() *gorm.DB {
			p := text
			return db.Model(&papers[1]).Update("short", &p)
		},
	} {
		must(t, db.Exec("UPDATE papers SET short = NULL WHERE name = 'b'"))
		must(t, do())
		if got := column[idtype.ShortID](t, db,
			"SELECT short FROM papers WHERE name = 'b'"); len(got) != 1 || got[0] != id {
			t.Errorf("%s: stored %v, want %v", name, got, id)
		}
	}
	must(t, db.Model(&papers[1]).Update("short", sql.NullString{}))
	wantColumn(t, db, "SELECT count(*) FROM papers WHERE short IS NULL", 2)
	big := idtype.EightByte[idtype.AsBigint[Paper]](idtype.MustParse[idtype.EightByteID]("0123456789012345"))
	must(t, db.Model(&papers[1]).Update("big", big.String()))
	var back Paper
	must(t, db.First(&back, papers[1].ID))
	if back.Big == nil || *back.Big != big {
		t.Errorf("read %v", back.Big)
	}
	var found Paper
	must(t, db.Where(M{"big": big.String()}).First(&found))
	if found.ID != papers[1].ID {
		t.Errorf("found %v", found)
	}
}

func updateGeneric(db *gorm.DB, id idtype.SnoID, values M) *gorm.DB {
	_, err := gorm.G[Paper](db).Where("id = ?", id).
		Set(assignments(values)...).Update(context.Background())
	return &gorm.DB{Error: err}
}

func assignments(values M) (all []clause.Assigner) {
	return append(all, clause.Assignments(values))
}

const ifOptional = "; if it is optional, declare it as idtype.OrZero if 0 in the column means " +
	"none, or as a pointer or sqlid.Null if NULL does"

// The errors of rows name the field, by its path, and its column.
func testErrorsNameTheField(t *testing.T, d database) {
	type Address struct {
		ID   idtype.DecimalID `gorm:"default:null"`
		City idtype.DecimalID
	}
	type Shop struct {
		ID      idtype.SequenceID `gorm:"type:integer;autoIncrement"`
		OwnerID idtype.DecimalID
		Home    Address  `gorm:"embedded;embeddedPrefix:home_"`
		Work    Address  `gorm:"embedded;embeddedPrefix:work_"`
		Spare   *Address `gorm:"embedded;embeddedPrefix:spare_"`
	}
	db := d.open(t, ruleOf[idtype.SnoID]())
	migrate(t, db, &Shop{})
	shop := Shop{Home: Address{City: 5}, Work: Address{City: 5}}
	five := Address{City: 5}
	for want, err := range map[string]error{
		"row 0: OwnerID of type idtype.DecimalID is zero: set it" + ifOptional: db.Create(&shop).Error,
		"row 1: Work.City (column work_city) of type idtype.DecimalID is zero": db.Create(&[]Shop{
			{OwnerID: 5, Home: five, Work: five, Spare: &five}, {OwnerID: 5, Home: five, Spare: &five},
		}).Error,
		"(table shops): OwnerID of type idtype.DecimalID is zero: set it" + ifOptional: db.Save(
			&Shop{ID: 7}).Error,
		"(table shops): Home.City (column home_city) of type idtype.DecimalID is zero: set it": db.Model(
			&Shop{ID: 7}).Select("home_city").Updates(Shop{}).Error,
		"OwnerID of type idtype.DecimalID is zero: set it, or give nil for NULL": db.Model(
			&Shop{ID: 7}).Update("owner_id", idtype.DecimalID(0)).Error,
	} {
		var e *gormid.Error
		if !errors.As(err, &e) || !errors.Is(err, idtype.ErrZero) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("error %v\nwant %s", err, want)
		}
	}
}

// A statement as the log shows it holds literals of the database: the matrix runs them.
func testLiterals(t *testing.T, d database) {
	db := d.open(t, rules...)
	migrate(t, db, &event[idtype.SnoID]{})
	sno, eight := idtype.MustParse[idtype.SnoID]("8qwl27j5x66rvpq5"), idtype.EightByteID{0: '<', 7: '>'}
	text := db.ToSQL(func(tx *gorm.DB) *gorm.DB {
		return tx.Where("id IN ? AND name <> ?",
			[]any{sno, &eight, eight[:], idtype.OrZero[idtype.SnoID]{ID: sno}}, "<binary>").
			Find(&[]event[idtype.SnoID]{})
	})
	literal := map[string]string{
		"sqlite": "x'%x'", "mysql": "x'%x'", "postgres": `'\x%x'::bytea`,
		"clickhouse": "unhex('%x')",
	}[db.Name()]
	for _, id := range [][]byte{sno[:], eight[:]} {
		if want := fmt.Sprintf(literal, id); strings.Count(text, want) != 2 {
			t.Errorf("%s\nwant %s twice in it", text, want)
		}
	}
	if strings.Count(text, "<binary>") != 1 {
		t.Error(text)
	}
	uuid := idtype.Sno[idtype.AsUUID[struct{}]](sno)
	value, _ := uuid.Value()
	if text := db.ToSQL(func(tx *gorm.DB) *gorm.DB {
		return tx.Exec("SELECT ?", uuid)
	}); text != fmt.Sprintf("SELECT '%s'", value) {
		t.Error(text)
	}
}
