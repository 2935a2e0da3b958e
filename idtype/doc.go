// Package idtype holds the primary keys that idmint mints, as column types.
//
// An ID is a small comparable value. It knows its layout, its text, its JSON and how a database
// stores it. A value from a driver, a request or a file is checked on the way in. A value that was
// never assigned does not leave by accident.
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
// Package generator mints them.
//
// # Typed keys
//
// Every scheme is a generic type over the entity that the key belongs to. So a key type per entity
// is one line, and keys of two entities do not compile into each other. All methods, wrappers and
// integrations work on them:
//
//	type User struct{ ID UserID; Name string }
//	type UserID = idtype.Decimal[User]
//	type OrderID = idtype.Decimal[Order]
//
// [DecimalID] is the key of any entity, and so are the other types of the table. Conversion is
// explicit and free: UserID(id). Note the = in the declaration: a defined type, type UserID
// DecimalID, would have none of the methods.
//
// The same line chooses how a byte ID is stored, if not as bytes: see [Storage]. And it keeps
// numbers in JSON for clients that take no strings yet: see [AsNumber] and [AsInt64].
//
//	type EventID = idtype.Sno[idtype.AsUUID[Event]]
//
// Snowflake IDs have one more parameter, which divides their bits: see [SnowflakeIn].
//
//	type LinkID = idtype.SnowflakeIn[Link, idtype.TSID]
//
// # Zero and NULL
//
// The zero value means "not assigned". It does not leave a program as an ID: Value, the text and the
// binary form of zero are errors, so a forgotten key or foreign key fails loudly, and does not point
// to row 0. JSON alone has a word for it: zero is written as null, and null is read as zero.
// [AsNumber] has 0 for both. No other decoder produces zero. String shows it, as 0 or as digits that
// are all zero, for people to read. The TextHandler of
// log/slog prints the error: log id.String() where an ID may be zero.
//
// A column type can say that an ID is optional:
//
//   - [database/sql.Null] of an ID, or a pointer to one, is a nullable column. NULL into a plain ID
//     is an error. The JSON of sql.Null is that of its two fields. The JSON of a pointer, and of
//     sqlid.Null, is the ID or null.
//   - [OrZero] is a NOT NULL column in which zero means "none".
//
// The text and the binary form of an OrZero and of a sqlid.Null are empty for none, and empty ones
// are read as none: in YAML, TOML, XML, CSV, gob, MessagePack, flags and variables of the environment.
//
// The tag omitzero leaves a zero out of JSON. The tag omitempty does so only for IDs of 63 bits.
//
// # The whole domain, and the layout
//
// Parse, Scan and every Unmarshal take the whole domain, because rows may be older than the scheme.
// That is 1 ..= 2^63−1, and of the byte IDs all bytes but zero. Validate says whether a value
// follows its layout.
package idtype
