package gorm_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"

	"gorm.io/gorm"

	"github.com/idmint/idmint/gormid"
	"github.com/idmint/idmint/idtype"
)

// Texts with the ID 50000000001 in them, or another value, that a database takes for a condition.
// Most are true of every row somewhere, and the others with NOT.
var values = []string{
	"50000000001\n", "50000000001\r\n", "50000000001 ", "\t50000000001", " 50000000001 ",
	"\u00a050000000001", "50000000001\u200b", "\ufeff50000000001", "50000000001\x00",
	`"50000000001"`, `'50000000001'`, "`50000000001`", "“50000000001”", `"50000000001`,
	`""`, `''`, `" "`, "'name'", "'abc'", `'5 apples'`, `"5 apples"`, "'it''s'", "x'31'", "_utf8'5'",
	"'5 = 5'", `"5 = 5"`, "'a--b'",
	"(50000000001)", "((50000000001))", "[50000000001]", "{50000000001}", "<50000000001>",
	"50000000001;", "50000000001--", "50000000001 -- 1", "50000000001/*", "50000000001#", "/* id */ 5",
	`"5"--`, "'abc' -- d", `'a\'=1'`, "1 - 0", "5-3", "`5`", "[5]",
	"50000000001\x00\x00stale", "50000000001\x00x", "'5'\x00name", "name\x00", "1 = 1\x00",
	"1,2", "1, 2", "(1,2)", "1;2", `"1","2"`, "1 2", "1, -2",
	"1.0", ".5", "5.", "1e3", "1.5e+3", "0x1F", "1_000", "+5", "-5", "- 5", "+ 5", "~5", "$$5$$",
	"００５", "٥", "99999999999999999999", "39706634-1111-4222-8333-123456789012",
	" ", "()", "-- 5",
}

// A text by itself that is a value is no condition. It is refused, unless it is exactly an ID's.
func testValuesAreNoConditions(t *testing.T, d database) {
	db, _ := newItems(t, d)
	const text = "50000000001"
	ids := []idtype.DecimalID{50000000001, 50000000002, 50000000003}
	must(t, db.Create([]Item{{ID: ids[0]}, {ID: ids[1]}, {ID: ids[2]}}))
	does := map[string]func(condition string) error{
		"Delete": func(c string) error { return db.Delete(&Item{}, c).Error },
		"First":  func(c string) error { return db.First(&Item{}, c).Error },
		"Take":   func(c string) error { return db.Take(&Item{}, c).Error },
		"Find":   func(c string) error { return db.Find(&[]Item{}, c).Error },
		"Where":  func(c string) error { return db.Where(c).Delete(&Item{}).Error },
		"Not":    func(c string) error { return db.Not(c).Delete(&Item{}).Error },
		"Or": func(c string) error {
			return db.Where("name = ?", "?").Or(c).Delete(&Item{}).Error
		},
		"and": func(c string) error {
			return db.Where("1 = 1").Where(c).Delete(&Item{}).Error
		},
		"a group": func(c string) error {
			return db.Where(db.Where("name = ?", "?").Or(c)).Delete(&Item{}).Error
		},
		"Updates": func(c string) error {
			return db.Model(&Item{}).Where(c).Updates(map[string]any{"name": "x"}).Error
		},
		"Update": func(c string) error {
			return db.Model(&Item{}).Where(c).Update("name", "x").Error
		},
		"Having": func(c string) error {
			return db.Model(&Item{}).Group("name").Having(c).Count(new(int64)).Error
		},
		"the generic API": func(c string) error {
			_, err := gorm.G[Item](db).Where(c).Delete(context.Background())
			return err
		},
	}
	if d.Kind == SQLite {
		does["a subquery"] = func(c string) error {
			sub := db.Model(&Item{}).Select("id").Where(c)
			return db.Where("id IN (?)", sub).Delete(&Item{}).Error
		}
	}
	for name, do := range does {
		for _, condition := range values {
			err := do(condition)
			var e *gormid.Error
			var input *idtype.InputError
			if !errors.As(err, &e) || !errors.As(err, &input) ||
				input.Input != strconv.Quote(condition) {
				t.Errorf("%s %q: error %v", name, condition, err)
			}
		}
	}
	// Whatever stands around an ID's text, no row is deleted.
	migrate(t, db, &Slip{}, &snoItem{})
	slip, sno := Slip{ID: idtype.MustParse[idtype.ShortID]("xinaS8QBh")},
		snoItem{ID: idtype.MustParse[idtype.SnoID]("8qwl27j5x66rvpq5")}
	must(t, db.Create(&slip))
	must(t, db.Create(&sno))
	for _, condition := range values {
		if !strings.Contains(condition, text) {
			continue
		}
		for id, model := range map[string]any{slip.ID.String(): &Slip{}, sno.ID.String(): &snoItem{}} {
			around := strings.ReplaceAll(condition, text, id)
			if _, err := idtype.Parse[idtype.ShortID](around); err == nil {
				continue // it is another ID
			}
			for _, tx := range []*gorm.DB{db.Delete(model, around), db.Not(around).Delete(model)} {
				if tx.RowsAffected != 0 {
					t.Errorf("%T: %q deleted %d rows", model, around, tx.RowsAffected)
				}
			}
		}
	}
	var refused *gormid.Error
	if err := db.Delete(&Item{}, "5\x00name = ?", "a").Error; !errors.As(err, &refused) {
		t.Errorf("a NUL before a mark: error %v", err)
	}
	wantColumn(t, db, selectItems, ids...)
	wantColumn(t, db, "SELECT count(*) FROM items WHERE name <> ''", 0)

	var found Item
	must(t, db.First(&found, text))
	if found.ID != ids[0] {
		t.Errorf("found %v", found)
	}
	var n int64
	must(t, db.Model(&Item{}).Where("1 = 1").Count(&n))
	if n != 3 {
		t.Errorf("counted %d", n)
	}
	must(t, db.Delete(&Item{}, text))
	wantColumn(t, db, selectItems, ids[1:]...)
}

// What has a name, a call or an operator between values is SQL.
func testSQLByItself(t *testing.T, d database) {
	db, papers := newPapers(t, d)
	all := int64(len(papers))
	for _, condition := range []string{
		"1 = 1", "(1 = 1)", "1=1 -- 5", "'1' = '1'", `"name" <> ''`, "length(name)",
		"true", "TRUE", "NOT 0", "(name) <> ''", "name <> '5'", "5 IN (5)", "length(`name`)",
		"/* 5 */ length(name)", "EXISTS (SELECT 5)", "5 IS NOT NULL", "id IS NOT NULL", "(true)",
		" true ", "name <> '5' -- the fifth",
	} {
		var n int64
		tx := db.Model(&Paper{}).Where(condition).Count(&n)
		if tx.Error != nil || n != all {
			t.Errorf("%s: %d rows, %v", condition, n, tx.Error)
		}
	}
	type Shelf struct {
		ID     idtype.DecimalID
		Second bool `gorm:"column:2fa"`
	}
	migrate(t, db, &Shelf{})
	must(t, db.Create([]Shelf{{ID: 5, Second: true}, {ID: 6}}))
	for _, condition := range []string{"`2fa` = true", `"2fa"`, `("2fa")`} {
		var n int64
		if tx := db.Model(&Shelf{}).Where(condition).Count(&n); tx.Error != nil || n != 1 {
			t.Errorf("%s: %d rows, %v", condition, n, tx.Error)
		}
	}
}

// Slip has a key whose text may begin with a letter or a dash, and is stored as an integer. A
// snoItem's is stored as bytes.
type (
	Slip struct {
		ID   idtype.ShortID `gorm:"autoIncrement:false"`
		Name string
	}
	snoItem struct {
		ID   idtype.SnoID `gorm:"autoIncrement:false"`
		Name string
	}
)

// The error of a value tells the likely cause.
func testCausesOfValues(t *testing.T, d database) {
	db, papers := newPapers(t, d)
	migrate(t, db, &Item{}, &Slip{})
	id := papers[0].ID.String()
	for want, do := range map[string]func() error{
		`gormid: gorm_test.Item (table items): a condition on ID: ` +
			`idtype: "\"50000000001\"" as DecimalID: ` +
			`the text is in double quotes: remove them`: func() error {
			return db.Delete(&Item{}, `"50000000001"`).Error
		},
		`gormid: gorm_test.Item (table items): a condition on ID: ` +
			`idtype: "50000000001\n" as DecimalID: not a plain decimal number: ` +
			`digits only, without sign, spaces or leading zeros`: func() error {
			return db.Delete(&Item{}, "50000000001\n").Error
		},
		`gormid: gorm_test.Paper (table papers): a condition on ID: ` +
			`idtype: "` + id + `\t" as SnoID: 17 bytes, want 16 characters`: func() error {
			return db.Delete(&Paper{}, id+"\t").Error
		},
		`gormid: gorm_test.Slip (table slips): a condition on ID: ` +
			`idtype: "\"xinaS8QBh\"" as ShortID: ` +
			`the text is in double quotes: remove them`: func() error {
			return db.Not(`"xinaS8QBh"`).Delete(&Slip{}).Error
		},
		`gormid: gorm_test.Slip (table slips): a condition on ID: ` +
			`idtype: "\"xinaS8QBh\" -- a" as ShortID: not a short ID's text: ` +
			`1 to 11 characters of A-Z a-z 0-9 - _`: func() error {
			return db.Not(`"xinaS8QBh" -- a`).Delete(&Slip{}).Error
		},
	} {
		var e *gormid.Error
		if err := do(); !errors.As(err, &e) || err.Error() != want {
			t.Errorf("error %v\nwant  %s", err, want)
		}
	}
}
