//require gorm.io/plugin/soft_delete v1.2.1

package main

import (
	"context"
	"log"

	"gorm.io/driver/sqlite"
	"gorm.io/plugin/soft_delete"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
)

type Note struct {
	ID        idtype.Decimal[Note]
	DeletedAt soft_delete.DeletedAt
}

func companion(_ context.Context, ids *generator.Decimal) {
	db := open(ids, sqlite.Open(":memory:"), &Note{})
	notes := make([]Note, 2)
	check(db.Create(&notes).Error)
	check(db.Delete(&Note{}, notes[0].ID).Error)
	var found []Note
	check(db.Find(&found).Error)
	if len(found) != 1 || found[0].ID != notes[1].ID {
		log.Panicf("left are %v of %v", found, notes)
	}
}
