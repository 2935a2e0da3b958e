// Package entid gives typed primary keys to ent. It has fields for schemas, a hook that assigns the
// keys, and a guard against upserts that would change them.
//
// The key types lie in a package that schemas and generated code both import:
//
//	package shopid
//
//	type user struct{} // the entity; ent generates the struct itself
//
//	type UserID = idtype.Decimal[user]
//
// A schema takes a line per field:
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
// And the client a hook and a guard:
//
//	assign, err := entid.Assign(entid.Use(ids))
//	if err != nil {
//		return err
//	}
//	client := ent.NewClient(ent.Driver(entid.Guard(drv)))
//	client.Use(assign)
//
// Package entid speaks to PostgreSQL and to SQLite.
//
// # Keys
//
// A key that was not set is minted when its row is created, alone and in bulk. [Use] mints all keys
// of a scheme, [For] those of one key type. The source gets the context of the call. A client
// without the hook stores nothing: the database refuses the row.
//
// # Columns
//
// The ID's [idtype.Storage] says which column a field gets:
//
//	           PostgreSQL  SQLite
//	integers   bigint      int
//	bytes      bytea       blob
//	text       text        text
//	UUID       uuid        text
//
// The database numbers none of them. ent's own integer keys are an identity in PostgreSQL, and
// AUTOINCREMENT in SQLite. In SQLite an integer key would number itself even without that word, so
// the column is int. A column of text sorts by the database's collation.
//
// ent's migration leaves numbering in a table that was there before. [CheckTables] tells of it.
//
// # Zero
//
// Zero means "not assigned". As a key, a foreign key, an update or a condition it is an error that
// wraps [idtype.ErrZero], and nothing is stored. NULL is for fields that are Optional. Make those
// Nillable too, and nil is NULL.
//
// # Upserts
//
// On a conflict the row keeps its stored key. UpdateNewValues, Ignore and Update do so, and their
// ID returns that key. DoNothing is sql.ErrNoRows for a row that is there. The option
// ResolveWithNewValues by itself rewrites the stored key: [Guard] refuses it. Upserts in bulk
// return no keys. Hooks then see minted keys of rows that have others.
package entid
