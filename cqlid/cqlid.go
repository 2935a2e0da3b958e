// Package cqlid stores the IDs of package idtype in Cassandra, by gocql.
//
//	type EventID = idtype.Sno[Event]
//
//	// CREATE TABLE events (id blob PRIMARY KEY, name text)
//	err := session.Query("INSERT INTO events (id, name) VALUES (?, ?)",
//		cqlid.Of(id), "started").Exec()
//
//	var found cqlid.Field[EventID]
//	err = session.Query("SELECT id FROM events LIMIT 1").Scan(&found) // found.ID
//
// gocql looks at what a value is made of: it stores an integer ID that is zero as 0, and has no blob
// for an ID of bytes. A [Field] keeps the rules that package sqlid keeps elsewhere.
//
//	idtype.Storage   column
//	bigint           bigint
//	bytes            blob
//	text             ascii, text, varchar
//	uuid             uuid
//
// Integers and UUIDs spread over the cluster by their hash, as all partition keys do. As a clustering
// column an ID sorts its partition: a bigint by its number, a blob by its bytes.
//
// Zero is an error that wraps [idtype.ErrZero], and the NULL of a column one that wraps
// [idtype.ErrNull]. A column that may be NULL is read into a *Field, which is nil then.
package cqlid

import (
	"database/sql"
	"encoding/binary"
	"fmt"
	"slices"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/idmint/idmint/idtype"
)

// A Field is an ID in a column. Lists and sets of them are collections of IDs.
type Field[T idtype.ID] struct {
	ID T
}

var (
	_ gocql.Marshaler   = Field[idtype.SnoID]{}
	_ gocql.Unmarshaler = (*Field[idtype.SnoID])(nil)
)

// Of is the field of an ID.
func Of[T idtype.ID](id T) Field[T] { return Field[T]{id} }

// String returns the ID's text.
func (f Field[T]) String() string { return f.ID.String() }

// A ColumnError is returned for a column of a type that does not hold the IDs.
type ColumnError struct {
	Storage idtype.Storage
	Column  gocql.Type
}

func (e *ColumnError) Error() string {
	return fmt.Sprintf("cqlid: a column of the type that CQL's protocol numbers %d holds no IDs that "+
		"are stored as %s: want a %s", e.Column, e.Storage, columns[e.Storage].name)
}

// columns are the types that hold a form of IDs, by the name of one.
var columns = map[idtype.Storage]struct {
	name  string
	types []gocql.Type
}{
	idtype.StorageBigint: {"bigint", []gocql.Type{gocql.TypeBigInt}},
	idtype.StorageBytes:  {"blob", []gocql.Type{gocql.TypeBlob}},
	idtype.StorageText:   {"text", []gocql.Type{gocql.TypeAscii, gocql.TypeText, gocql.TypeVarchar}},
	idtype.StorageUUID:   {"uuid", []gocql.Type{gocql.TypeUUID}},
}

func check(storage idtype.Storage, info gocql.TypeInfo) error {
	if !slices.Contains(columns[storage].types, info.Type()) {
		return &ColumnError{storage, info.Type()}
	}
	return nil
}

// MarshalCQL is what the column holds. Errors: zero, and a [*ColumnError].
func (f Field[T]) MarshalCQL(info gocql.TypeInfo) ([]byte, error) {
	if err := check(f.ID.Storage(), info); err != nil {
		return nil, err
	}
	value, err := f.ID.Value()
	if err != nil {
		return nil, fmt.Errorf("cqlid: %w", err)
	}
	return gocql.Marshal(info, value)
}

// UnmarshalCQL reads what the column holds. On an error the ID stays as it was: a [*ColumnError], or
// an [*idtype.InputError] for NULL and for what is no ID.
func (f *Field[T]) UnmarshalCQL(info gocql.TypeInfo, data []byte) error {
	storage := f.ID.Storage()
	if err := check(storage, info); err != nil {
		return err
	}
	var value any
	switch {
	case data == nil:
	case storage == idtype.StorageBigint && len(data) == 8:
		value = int64(binary.BigEndian.Uint64(data))
	case storage == idtype.StorageText:
		value = string(data)
	default: // bytes, and UUIDs as their 16 bytes
		value = data
	}
	if err := any(&f.ID).(sql.Scanner).Scan(value); err != nil {
		return fmt.Errorf("cqlid: %w", err)
	}
	return nil
}
