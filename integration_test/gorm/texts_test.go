package gorm_test

import (
	"errors"
	"strings"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/idmint/idmint/gormid"
	"github.com/idmint/idmint/idtype"
)

// An error names the model, the field, its type and the likely cause, and is an *Error.
func testErrorTexts(t *testing.T, d database) {
	type pair struct {
		A, B idtype.SnoID `gorm:"primaryKey"`
	}
	s := newSchemes()
	db := d.open(t, s.sno, s.short, gormid.Use(newSource()))
	migrate(t, db, allModels()...)
	migrate(t, db, &Paper{}, &pair{}, &Grant{})
	zero := UserID(0)
	isZero := map[string]func() error{
		"gormid: gorm_test.Order (table orders): row 1: UserID of type " +
			"idtype.Decimal[gorm_test.User] is zero: set it to the ID of an existing User " +
			"(if the User met a conflict, look it up first)" + ifOptional: func() error {
			return db.Create(&[]Order{{UserID: 5}, {}}).Error
		},
		"gormid: gorm_test.User (table users): row 0: " +
			"ManagerID of type *idtype.Decimal[gorm_test.User] is zero: set it to the ID of an " +
			"existing User (if the User met a conflict, look it up first), " +
			"or to nil for NULL": func() error {
			return db.Create(&User{ManagerID: &zero}).Error
		},
		"gormid: gorm_test.Profile (table profiles): row 0: UserID of type " +
			"idtype.Decimal[gorm_test.User] is zero: set it to the ID of an existing User " +
			"(if the User met a conflict, look it up first)": func() error {
			return db.Create(&Profile{}).Error
		},
		"gormid: gorm_test.Grant (table grants): row 0: TagID of type " +
			"idtype.Decimal[gorm_test.Tag] is zero: it is part of a composite primary key, " +
			"which no rule assigns: set it": func() error {
			return db.Create(&Grant{GroupID: 5}).Error
		},
		"gormid: gorm_test.Paper (table papers): a condition on Short: the ID is zero: " +
			"set it first; for NULL write IS NULL, or give nil": func() error {
			return db.Where("short", idtype.ShortID(0)).Delete(&Paper{}).Error
		},
		"gormid: gorm_test.Paper (table papers): Short of type *idtype.ShortID is zero: " +
			"set it, or give nil for NULL": func() error {
			return db.Model(&Paper{}).Where("1 = 1").Update("short", 0).Error
		},
	}
	others := map[string]func() error{
		"gormid: gorm_test.Paper (table papers): a condition on Short: " +
			`idtype: "\"xinaS8QBh\"" as ShortID: it is in double quotes: ` +
			"take the text between them": func() error {
			return db.Where("short", `"xinaS8QBh"`).First(&Paper{}).Error
		},
		"gormid: gorm_test.Paper (table papers): a condition on Short: a float loses digits of " +
			"an ID: give an ID, its text or an integer; " +
			"json.Decoder.UseNumber keeps those of JSON": func() error {
			return db.Where("short", 1.5).First(&Paper{}).Error
		},
		"gormid: gorm_test.Paper (table papers): Short of type *idtype.ShortID: " +
			"a list where one ID is wanted: give one ID, or write IN ? for a list": func() error {
			return db.Model(&Paper{}).Where("1 = 1").Update("short", []idtype.ShortID{5}).Error
		},
		`gormid: gorm_test.pair (table pairs): the condition "39706634-1111" is a value alone, ` +
			"and the primary key has several columns: " +
			`name one, as in Where("column", value)`: func() error {
			return db.Delete(&pair{}, "39706634-1111").Error
		},
	}
	for want, do := range isZero {
		others[want] = do
	}
	for want, do := range others {
		err := do()
		var typed *gormid.Error
		if !errors.As(err, &typed) || err.Error() != want {
			t.Errorf("error %v\nwant  %s", err, want)
		}
		if (isZero[want] != nil) != errors.Is(err, idtype.ErrZero) {
			t.Errorf("errors.Is(%v, ErrZero) is %t", err, errors.Is(err, idtype.ErrZero))
		}
	}
}

// After a forgotten db.Use the driver passes on the ID's own error, which names it.
func testWithoutUse(t *testing.T, d database) {
	db, err := gorm.Open(d.dialector(t), &gorm.Config{Logger: logger.Discard})
	try(t, err)
	var typed *gormid.Error
	try(t, db.AutoMigrate(&Item{}))
	if err := db.Create(&Item{}).Error; !errors.Is(err, idtype.ErrZero) || errors.As(err, &typed) ||
		!strings.Contains(err.Error(), `idtype: "0" as DecimalID: zero means not assigned: `) ||
		!strings.Contains(err.Error(), "db.Use") {
		t.Errorf("error %v, want ErrZero", err)
	}
}
