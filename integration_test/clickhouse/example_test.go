package clickhouse_test

import (
	"context"
	"fmt"
	"log"

	chgo "github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"
	ch "github.com/ClickHouse/clickhouse-go/v2"

	"github.com/idmint/idmint/clickhouse"
	"github.com/idmint/idmint/idtype"
)

type (
	User  struct{}
	Event struct{}

	UserID  = idtype.Decimal[User]
	EventID = idtype.Trace[Event]
)

// Whole columns at once, by clickhouse-go.
func ExampleAppend() {
	ctx := context.Background()
	conn, err := ch.Open(&ch.Options{Addr: []string{"localhost:9000"}})
	if err != nil {
		log.Fatal(err)
	}
	ids, users := []EventID{274877906945}, []UserID{0}
	batch, err := conn.PrepareBatch(ctx, "INSERT INTO events (id, user_id)")
	if err != nil {
		log.Fatal(err)
	}
	defer batch.Close()
	if err := clickhouse.Append(batch.Column(0), ids); err != nil {
		log.Fatal(err)
	}
	if err := clickhouse.AppendOrZero(batch.Column(1), users); err != nil { // an event of no user
		log.Fatal(err)
	}
	if err := batch.Send(); err != nil {
		log.Fatal(err)
	}
}

// Structs, with fields of every kind.
func ExampleField() {
	type event struct {
		ID     idtype.EightByteID                   // as it is, zero goes in
		Strict clickhouse.Field[idtype.EightByteID] // zero is an error
		User   idtype.OrZero[UserID]                // zero is none
	}
	_, err := event{}.Strict.Value()
	fmt.Println(err)
	// Output:
	// idtype: "0000000000000000" as EightByteID: zero means not assigned: set the ID first, or declare an optional one as OrZero or sqlid.Null (in GORM, a rule of gormid sets a primary key, after db.Use)
}

// Blocks of ch-go.
func ExampleColID() {
	ctx := context.Background()
	conn, err := chgo.Dial(ctx, chgo.Options{Address: "localhost:9000"})
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	ids := clickhouse.ColID[EventID]{274877906945}
	if err := conn.Do(ctx, chgo.Query{
		Body:  "INSERT INTO events (id) VALUES",
		Input: proto.Input{{Name: "id", Data: &ids}},
	}); err != nil {
		log.Fatal(err)
	}
	var block clickhouse.ColID[EventID]
	if err := conn.Do(ctx, chgo.Query{
		Body:     "SELECT id FROM events",
		Result:   proto.Results{{Name: "id", Data: &block}},
		OnResult: func(context.Context, proto.Block) error { fmt.Println(block); return nil },
	}); err != nil {
		log.Fatal(err)
	}
}

// What is different in a table that somebody else made.
func ExampleCheckTable() {
	ctx := context.Background()
	conn, err := ch.Open(&ch.Options{Addr: []string{"localhost:9000"}})
	if err != nil {
		log.Fatal(err)
	}
	findings, err := clickhouse.CheckTable(ctx, conn, "events",
		clickhouse.Column[EventID]{Name: "id"}.PrimaryKey())
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range findings {
		fmt.Println(f)
	}
	size, err := clickhouse.BytesPerID(ctx, conn, "events", "id")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.3f bytes per ID\n", size.PerID())
}
