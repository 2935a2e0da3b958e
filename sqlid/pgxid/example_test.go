package pgxid_test

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/sqlid/pgxid"
)

type UserID = idtype.Decimal[User]

type User struct{ ID UserID }

// A pool whose connections know the IDs.
func ExampleAfterConnect() {
	ctx := context.Background()
	config, err := pgxpool.ParseConfig("postgres://localhost/shop")
	if err != nil {
		panic(err)
	}
	config.AfterConnect = pgxid.AfterConnect
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		panic(err)
	}
	defer pool.Close()

	type Order struct {
		ID    idtype.Decimal[any]
		Buyer *UserID // NULL where there is none
	}
	rows, err := pool.Query(ctx, "SELECT id, buyer FROM orders WHERE buyer = ANY($1)",
		[]UserID{14150009200065, 14160009200065})
	if err != nil {
		panic(err)
	}
	orders, err := pgx.CollectRows(rows, pgx.RowToStructByName[Order])
	if err != nil {
		panic(err)
	}
	// COPY takes pointers, which saves an allocation per row.
	source := pgx.CopyFromSlice(len(orders), func(i int) ([]any, error) {
		return []any{&orders[i].ID, orders[i].Buyer}, nil
	})
	_, err = pool.CopyFrom(ctx, pgx.Identifier{"archive"}, []string{"id", "buyer"}, source)
	if err != nil {
		panic(err)
	}
}

// The same under database/sql.
func ExampleAfterConnect_stdlib() {
	config, err := pgx.ParseConfig("postgres://localhost/shop")
	if err != nil {
		panic(err)
	}
	db := stdlib.OpenDB(*config, stdlib.OptionAfterConnect(pgxid.AfterConnect))
	defer db.Close()

	// database/sql hands over arrays as text, which a plain slice does not take.
	var buyers idtype.Slice[UserID]
	err = db.QueryRow("SELECT array_agg(buyer) FROM orders WHERE id = ANY($1)",
		[]idtype.DecimalID{14150009200065}).Scan(&buyers)
	if err != nil {
		panic(err)
	}
}

// What an ID is on the wire: the eight bytes of a bigint.
func ExampleRegister() {
	m := pgtype.NewMap()
	pgxid.Register(m)
	wire, err := m.Encode(pgtype.Int8OID, pgtype.BinaryFormatCode, UserID(14150009200065), nil)
	fmt.Printf("%x %v\n", wire, err)
	var id UserID
	err = m.Scan(pgtype.Int8OID, pgtype.BinaryFormatCode, wire, &id)
	fmt.Println(id, err)
	err = m.Scan(pgtype.Int8OID, pgtype.BinaryFormatCode, nil, &id)
	fmt.Println(err)
	_, err = m.Encode(pgtype.Int8OID, pgtype.BinaryFormatCode, UserID(0), nil)
	fmt.Println(err)
	// Output:
	// 00000cde8e459dc1 <nil>
	// 14150009200065 <nil>
	// idtype: NULL as DecimalID: NULL: scan into sql.Null of this type, or into a pointer to it
	// unable to encode 0 into binary format for int8 (OID 20): idtype: "0" as DecimalID: zero means not assigned: set the ID first, or declare an optional one as OrZero or sqlid.Null (in GORM, a rule of gormid sets a primary key, after db.Use)
}
