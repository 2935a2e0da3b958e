// Package idtype defines the primary keys that idmint mints, as types for database columns.
//
// An ID is a small comparable value with a fixed bit layout, a text form, a JSON form, and a form
// for databases. Values that come from a driver, a request, or a file are validated as they are
// decoded. A value that was never assigned cannot be written by accident.
//
//	type           size    stored as             text                   carries
//	[DecimalID]    63 bit  BIGINT                decimal digits         counter, generator, launch
//	[TraceID]      63 bit  BIGINT                decimal digits         second of 388 days, node,
//	                                                                    number; then it repeats
//	[ShortID]      60 bit  BIGINT                up to 10 of            millisecond, sequence,
//	                                             A-Z a-z 0-9 - _        random bits
//	[SequenceID]   63 bit  BIGINT                decimal digits         its number
//	[SnowflakeID]  63 bit  BIGINT                decimal digits,        millisecond, node, step
//	                                             or a layout's
//	[EightByteID]  64 bit  8 bytes, or BIGINT    16 hexadecimal digits  millisecond, sequence,
//	                                                                    generator, cluster
//	[SnoID]        80 bit  10 bytes, UUID, text  16 of 2-9a-x           4 ms, metabyte, partition,
//	                                                                    sequence
//	[UUID7ID]      128 bit UUID, or 16 bytes     36 characters          millisecond, random bits
//
// Package generator mints IDs of all these types.
//
// # Typed keys
//
// Every scheme is a generic type whose parameter is the entity that the key belongs to. Declaring a
// key type for an entity therefore takes one line, and the compiler rejects a key of one entity
// where a key of another is wanted. All methods, wrappers, and integrations work with such types:
//
//	type User struct{ ID UserID; Name string }
//	type UserID = idtype.Decimal[User]
//	type OrderID = idtype.Decimal[Order]
//
// [DecimalID] is a key that is not tied to one entity, as are the other types in the table above.
// Conversion is explicit and free: UserID(id). Note the = in the declaration: it makes an alias,
// whereas a defined type, type UserID DecimalID, would have none of the methods.
//
// The same line can choose another column form for a byte ID: see [Storage]. It can also keep IDs
// as numbers in JSON for clients that do not accept strings yet: see [AsNumber] and [AsInt64].
//
//	type EventID = idtype.Sno[idtype.AsUUID[Event]]
//
// Snowflake IDs have one more parameter, which sets how their bits are divided: see [SnowflakeIn].
//
//	type LinkID = idtype.SnowflakeIn[Link, idtype.TSID]
//
// # Zero and NULL
//
// The zero value means "not assigned" and cannot be written as an ID. Value returns an error for
// it, and so do the methods that write its text or binary form, so that a forgotten key or foreign
// key fails loudly instead of pointing to row 0. The exception is JSON, which writes zero as null,
// or as 0 with [AsNumber], and reads it back from the same form. No other decoder produces zero.
// String returns 0, or a text with only zero digits, for people to read. The TextHandler of
// log/slog prints the error instead, so log id.String() if an ID may be zero.
//
// To make an ID optional, choose one of two types for the column:
//
//   - [database/sql.Null] of an ID, or a pointer to one, is a nullable column. Scanning NULL into a
//     plain ID is an error. In JSON, sql.Null is an object with two fields, whereas a pointer and
//     sqlid.Null are the ID or null.
//   - [OrZero] is a NOT NULL column in which zero means "none".
//
// An OrZero or a sqlid.Null without an ID has an empty text and an empty binary form, and these are
// read as no ID. That applies to YAML, TOML, XML, CSV, gob, MessagePack, flags, and environment
// variables.
//
// The tag omitzero leaves zero IDs out of JSON. The tag omitempty does so only for 63-bit IDs.
//
// # The whole domain, and the layout
//
// Parse, Scan, and the Unmarshal methods accept the whole domain, because rows may be older than
// the scheme. For integer IDs the domain is 1 ..= 2^63−1; for byte IDs, any bytes that are not all
// zero. Validate reports whether a value follows its layout.
package idtype
