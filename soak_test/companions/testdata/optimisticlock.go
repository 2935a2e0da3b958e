//require gorm.io/plugin/optimisticlock v1.1.3

package main

import (
	"context"
	"log"

	"gorm.io/driver/sqlite"
	"gorm.io/plugin/optimisticlock"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
)

type Note struct {
	ID      idtype.Decimal[Note]
	Text    string
	Version optimisticlock.Version
}

func companion(_ context.Context, ids *generator.Decimal) {
	db := open(ids, sqlite.Open(":memory:"), &Note{})
	note := Note{Text: "tea"}
	check(db.Create(&note).Error)
	for _, want := range []int64{1, 0} { // the second one has an old version
		result := db.Model(&note).Update("Text", "milk")
		if check(result.Error); result.RowsAffected != want {
			log.Panicf("updated %d rows, want %d", result.RowsAffected, want)
		}
	}
}
