// Package entid adds typed primary keys to ent. It has fields for schemas, a hook that assigns the
// keys, and a guard against upserts that would change them.
//
// Declare the key types in a package that both schemas and generated code import:
//
//	package shopid
//
//	type user struct{} // the entity; ent generates the struct itself
//
//	type UserID = idtype.Decimal[user]
//
// A schema needs one line per field:
//
//	func (User) Fields() []ent.Field {
//		return []ent.Field{entid.Key[shopid.UserID]("UserID"), field.String("name")}
//	}
//
//	func (Order) Fields() []ent.Field {
//		return []ent.Field{
//			entid.Key[shopid.OrderID]("OrderID"),
//			entid.Of[shopid.UserID]("user_id", "UserID"),
//		}
//	}
//
// The client needs a hook and a guard:
//
//	assign, err := entid.Assign(entid.Use(ids))
//	if err != nil {
//		return err
//	}
//	client := ent.NewClient(ent.Driver(entid.Guard(drv)))
//	client.Use(assign)
//
// Package entid supports PostgreSQL and SQLite.
//
// # Keys
//
// When a row is created, alone or in bulk, its key is minted unless it is set. A rule of [Use]
// mints all keys of a scheme, and one of [For] the keys of one type. The source gets the context of
// the call. Without the hook a client stores nothing, because the database rejects the row.
//
// # Columns
//
// The column of a field depends on the ID's [idtype.Storage]:
//
//	           PostgreSQL  SQLite
//	integers   bigint      int
//	bytes      bytea       blob
//	text       text        text
//	UUID       uuid        text
//
// The database numbers none of them, unlike ent's own integer keys, which are an identity in
// PostgreSQL, and AUTOINCREMENT in SQLite. The column in SQLite is int, because an integer key
// would be numbered even without AUTOINCREMENT. A text column sorts by the database's collation.
//
// ent's migration does not remove numbering from an existing table, but [CheckTables] reports it.
//
// # Zero
//
// Zero means "not assigned". As a key, as a foreign key, in an update or in a condition it causes
// an error that wraps [idtype.ErrZero], and nothing is stored. Fields that are Optional can be
// NULL. If they are also Nillable, NULL is nil.
//
// # Upserts
//
// On a conflict, UpdateNewValues, Ignore and Update keep the stored key of the row, and their ID
// returns it. DoNothing returns sql.ErrNoRows for an existing row. The option ResolveWithNewValues
// alone would rewrite the stored key, so [Guard] rejects it. Upserts in bulk return no keys, so
// hooks see minted keys for rows that have others.
package entid
