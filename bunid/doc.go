// Package bunid gives primary keys to the rows that bun inserts, and columns to their tables.
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
// Package bunid speaks to PostgreSQL and to SQLite. The DB is a *bun.DB like any other.
//
// # Keys
//
// A key that is zero is minted when its row is inserted, alone or in a slice. A key that was set
// stays. Updates and deletes mint nothing. A model whose key is another field, or has another
// column, calls [Assign] in a method of its own.
//
// The rules belong to the DB. [Use] mints all keys of a scheme, [For] those of one key type. The
// source gets the statement's context. Where it fails, nothing is inserted.
//
// # Columns
//
// NewDB gives each column of IDs its type, by the ID's [idtype.Storage]. So no tag is needed:
//
//	           PostgreSQL        SQLite
//	integers   BIGINT            INTEGER, and INT as the primary key
//	bytes      BYTEA             BLOB
//	text       TEXT COLLATE "C"  TEXT
//	UUID       UUID              TEXT
//
// This holds for plain IDs, pointers, [database/sql.Null], sqlid.Null and [idtype.OrZero]. bun
// alone takes some of them for JSON. In SQLite its INTEGER keys number themselves: a row without a key
// would get the largest plus one, which is the ID of another launch.
//
// A pointer is nil for NULL. A plain ID with the tag nullzero is zero for NULL: zero is written as
// NULL, and NULL is read as zero.
//
// [Check] refuses, and so does the first query of the model:
//
//   - the tags autoincrement, identity, default and nullzero on a primary key of IDs;
//   - a tag with a type that holds other values, such as type:integer in PostgreSQL. A type that no
//     list knows is taken for a domain of yours;
//   - a key type that was declared without "=". It has no methods.
//
// A table that was there before keeps its columns. [CheckTables] asks the database whether it would
// number a row that comes without a key.
//
// # Zero
//
// Zero means "not assigned". It is written nowhere: not as a foreign key, not in a condition, not
// in SQL of your own. The query is an [*Error] that wraps [idtype.ErrZero], and is not sent. A
// transaction goes on. bun alone sends the error's text, which is a syntax error.
//
// A bun.Conn may send what is refused, here and by [Check]. The statement is then no valid SQL.
// Nothing is stored, and the error is the database's own. Or it is [database/sql/driver.ErrBadConn],
// and the Conn is closed: pgx's driver answers so.
//
// # Conflicts
//
// On a conflict the row keeps its stored key. After an INSERT with ON CONFLICT a struct has the key
// that its row has in the table, or zero, and never another:
//
//	ON CONFLICT                        a new row    a row that was there
//	DO UPDATE, Returning the key       its key      the stored key
//	DO UPDATE WHERE, Returning it      its key      zero, unless it is alone and updated
//	DO UPDATE, without Returning       zero         zero
//	DO NOTHING, Ignore, Returning it   its key      zero
//	DO NOTHING, Ignore, without        its key [1]  zero
//
// [1] Among several rows, if none of them met a conflict. Else all are zero.
//
// bun alone hands the keys that come back to the first structs, whichever they belong to, and drops
// the rest. Where fewer rows come back than were sent, their other columns are not taken over
// either. Where rows are returned into a variable of yours, the structs have zero.
//
// # Transactions
//
// Call Ready of each generator as the app starts. A transaction that mints the first ID would wait
// for the launch log, which may need the same connection, or SQLite's lock.
package bunid
