package orms

import (
	"context"
	"testing"

	"github.com/uptrace/bun"

	"github.com/idmint/idmint/bunid"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
)

type EventID = idtype.Decimal[Event]

type Event struct {
	Key  EventID `bun:"event_id,pk"`
	What string
}

func (e *Event) BeforeAppendModel(ctx context.Context, query bun.Query) error {
	return bunid.Assign(ctx, query, &e.Key)
}

func TestBunOtherColumn(t *testing.T) {
	inBun(t, func(t *testing.T, db *bun.DB, _ *generator.Decimal) {
		createTables(t, db, (*Event)(nil))
		if err := bunid.CheckTables(t.Context(), db, (*Event)(nil), (*BunUser)(nil)); err != nil {
			t.Error(err)
		}
		events := []Event{{What: "start"}, {What: "end"}}
		insert(t, db, &events)
		n, err := db.NewSelect().Model((*Event)(nil)).Where("event_id = ?", events[1].Key).
			Count(t.Context())
		if err != nil || n != 1 || events[0].Key != 10_000_000_001 {
			t.Errorf("%d, %v, %v", n, events, err)
		}
	})
}
