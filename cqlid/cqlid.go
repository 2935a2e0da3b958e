// Package cqlid stores the IDs of package idtype in Cassandra, through gocql.
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
// gocql stores a value by its underlying type: it would store an integer ID that is zero as 0, and
// cannot store an ID of bytes in a blob. A [Field] follows the same rules as package sqlid does for
// other databases.
//
//	idtype.Storage   column
//	bigint           bigint
//	bytes            blob
//	text             ascii, text, varchar
//	uuid             uuid
//
// Integers and UUIDs spread over the cluster by their hash, as all partition keys do. As a
// clustering column, an ID sorts its partition: a bigint by its number, a blob by its bytes.
//
// Zero is an error that wraps [idtype.ErrZero], and NULL is an error that wraps [idtype.ErrNull].
// Scan a column that may be NULL into a *Field, which is nil for NULL.
package cqlid

import (
	"database/sql"
	"encoding/binary"
	"fmt"
	"slices"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/idmint/idmint/idtype"
)

// A Field is an ID in a column, and lists and sets of Fields are collections of IDs.
type Field[T idtype.ID] struct {
	ID T
}

var (
	_ gocql.Marshaler   = Field[idtype.SnoID]{}
	_ gocql.Unmarshaler = (*Field[idtype.SnoID])(nil)
)

// Of returns the field of an ID.
func Of[T idtype.ID](id T) Field[T] { return Field[T]{id} }

// String returns the ID's text.
func (f Field[T]) String() string { return f.ID.String() }

// A ColumnError is returned for a column whose type cannot store the IDs.
type ColumnError struct {
	Storage idtype.Storage
	Column  gocql.Type
}

func (e *ColumnError) Error() string {
	return fmt.Sprintf("cqlid: a column of CQL type %d cannot store IDs in the form %s: "+
		"want a %s", e.Column, e.Storage, columns[e.Storage].name)
}

// columns has the types that can store a form of IDs, and the name of one of them.
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

// MarshalCQL returns what the column stores, or an error for zero, or a [*ColumnError].
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

// UnmarshalCQL reads what the column stores. It returns a [*ColumnError], or an
// [*idtype.InputError] for NULL and for a value that is not an ID, and then leaves the ID
// unchanged.
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
	default: // bytes, and UUIDs as 16 bytes
		value = data
	}
	if err := any(&f.ID).(sql.Scanner).Scan(value); err != nil {
		return fmt.Errorf("cqlid: %w", err)
	}
	return nil
}
