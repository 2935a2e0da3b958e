//require gorm.io/datatypes v1.2.7

package main

import (
	"context"
	"log"

	"gorm.io/datatypes"
	"gorm.io/driver/sqlite"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
)

type Note struct {
	ID    idtype.Decimal[Note]
	Attrs datatypes.JSON
}

func companion(_ context.Context, ids *generator.Decimal) {
	db := open(ids, sqlite.Open(":memory:"), &Note{})
	note := Note{Attrs: datatypes.JSON(`{"of":"Ann"}`)}
	check(db.Create(&note).Error)
	var found Note
	check(db.First(&found, datatypes.JSONQuery("attrs").Equals("Ann", "of")).Error)
	if found.ID != note.ID {
		log.Panicf("found %v, want %v", found, note)
	}
}
