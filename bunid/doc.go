// Package bunid assigns primary keys to the rows that bun inserts, and sets the column types of
// their tables.
//
//	type UserID = idtype.Decimal[User] // an alias, with "="
//
//	type User struct {
//		bunid.Keyed[UserID] // the field ID, column id
//		Name string
//	}
//
//	func create(ctx context.Context, sqldb *sql.DB, ids *generator.Decimal) error {
//		if err := ids.Ready(ctx); err != nil { // takes the generator's first number
//			return err
//		}
//		db, err := bunid.NewDB(sqldb, pgdialect.New(), bunid.Use(ids))
//		if err != nil {
//			return err
//		}
//		if err := bunid.Check(db, (*User)(nil)); err != nil {
//			return err
//		}
//		ann := &User{Name: "Ann"}
//		_, err = db.NewInsert().Model(ann).Exec(ctx) // ann.ID is set
//		return err
//	}
//
// It supports PostgreSQL and SQLite. The DB is a *bun.DB like any other.
//
// # Keys
//
// When a row is inserted, alone or in a slice, its key is minted if it is zero. A key that is
// already set stays. Updates and deletes mint nothing. A model whose key is another field, or has
// another column, must call [Assign] in its own BeforeAppendModel.
//
// The rules belong to the DB. A rule of [Use] mints all keys of a scheme, and one of [For] the keys
// of one type. The source gets the statement's context. If it fails, nothing is inserted.
//
// # Columns
//
// NewDB sets the type of each column of IDs by the ID's [idtype.Storage], so no tag is needed:
//
//	           PostgreSQL        SQLite
//	integers   BIGINT            INTEGER, and INT as the primary key
//	bytes      BYTEA             BLOB
//	text       TEXT COLLATE "C"  TEXT
//	UUID       UUID              TEXT
//
// This holds for plain IDs, pointers, [database/sql.Null], sqlid.Null and [idtype.OrZero], some of
// which bun alone would store as JSON. With bun's own INTEGER keys in SQLite, a row without a key
// would get the largest key plus one, which is the ID of another launch.
//
// A pointer is nil for NULL. For a plain ID with the tag nullzero, zero is written as NULL, and
// NULL is read as zero.
//
// [Check] and the first query of a model reject:
//
//   - the tags autoincrement, identity, default and nullzero on a primary key of IDs;
//   - a tag with a type that holds other values, such as type:integer in PostgreSQL. An unknown
//     type is accepted as a domain of yours;
//   - a key type that was declared without "=", and therefore has no methods.
//
// An existing table keeps its columns. [CheckTables] asks the database whether it would number a
// row without a key.
//
// # Zero
//
// Zero means "not assigned". It is never written, neither as a foreign key nor in a condition nor
// in your own SQL. Such a query is not sent, but returns an [*Error] that wraps [idtype.ErrZero],
// and a transaction can continue. bun alone would send the error's text, which is a syntax error.
//
// A bun.Conn may send a query that is rejected, here or by [Check]. The statement is then invalid
// SQL, so nothing is stored, and the error comes from the database. With pgx's driver the error is
// [database/sql/driver.ErrBadConn], and the Conn is closed.
//
// # Conflicts
//
// On a conflict the row keeps its stored key. After an INSERT with ON CONFLICT, a struct has either
// the key that its row has in the table, or zero:
//
//	ON CONFLICT                        a new row    an existing row
//	DO UPDATE, Returning the key       its key      the stored key
//	DO UPDATE WHERE, Returning it      its key      zero, unless it is alone and updated
//	DO UPDATE, without Returning       zero         zero
//	DO NOTHING, Ignore, Returning it   its key      zero
//	DO NOTHING, Ignore, without        its key [1]  zero
//
// [1] Among several rows, only if none met a conflict. Otherwise all are zero.
//
// bun alone would assign the returned keys to the first structs, even if they belong to others, and
// drop the remaining structs. If fewer rows are returned than were sent, the structs do not get
// other returned columns either. If rows are returned into your own variable, the structs have zero
// keys.
//
// # Transactions
//
// Call Ready of each generator when the app starts. Otherwise a transaction that mints the first ID
// would wait for the launch log, which may need the same connection, or SQLite's lock.
package bunid
