// Package gormid gives primary keys to the rows that GORM creates. It is a plugin of GORM.
//
//	type UserID = idtype.Decimal[User] // an alias, with "="
//
//	type User struct {
//		ID   UserID
//		Name string
//	}
//
//	func create(ctx context.Context, db *gorm.DB, store launchlog.Store) (err error) {
//		ids, err := idmint.Open(ctx, store, idmint.App{Service: "shop"})
//		if err != nil {
//			return err
//		}
//		defer func() { err = errors.Join(err, ids.Close(ctx)) }()
//		if err := db.Use(gormid.New(ids)); err != nil {
//			return err
//		}
//		if err := db.AutoMigrate(&User{}); err != nil {
//			return err
//		}
//		ann := User{Name: "Ann"}
//		return db.Create(&ann).Error // ann.ID is set
//	}
//
// Call Use on what gorm.Open returned, before sessions are made of it: a session that the plugin
// did not get to is an error. Call AutoMigrate before goroutines start. An app that does not
// migrate reads each model once instead, because the plugin prepares a model at its first
// statement, and [gorm.DB.Scan] after Raw would do so in a race.
//
// The compiler may crash on a model that points to its own key. docs/reference/versions.md has the way round.
//
// # Words
//
// A source mints IDs of one scheme. Generators are sources: see [Source]. A rule says whose keys a
// source mints. That of [New] and those of [Use] are general rules, for every model whose key is an
// ID of the source's scheme. [Rule.For] limits a rule to models, and [Rule.ForTable] to tables.
//
// # What it promises
//
// It does not matter how rows are created. Structs, slices and arrays of them, maps, batches,
// associations at any depth, Save, FirstOrCreate and the generic API all get keys, with SkipHooks
// and with Select as well: the plugin is a callback, not a hook. To Omit a key that a rule assigns
// is an error.
//
// One statement asks its source once for all its rows, with the statement's context.
// CreateInBatches makes one statement per batch. Hooks see the ID. If the source fails, nothing is
// inserted and no row is changed.
//
// A create that the database refuses, or a rollback, leaves the IDs in the structs. No other row
// gets them. The same structs can be created again. The plugin then takes those IDs for the user's,
// and leaves them there after a conflict.
//
// # Which keys
//
//	the primary key                       the plugin
//	an ID or a pointer to one; zero, nil  assigns, if a rule is for its scheme or for the model
//	the same, set                         leaves it
//	part of a composite key               leaves it; zero is an error
//	the key of another model              leaves it; zero is an error; [Rule.For] assigns
//	an ID tagged autoIncrement            refuses the model
//	of any other type, uint or string     refuses the model; with [Lenient] leaves it
//	of type UserID idtype.DecimalID       refuses the model
//
// Profile.UserID is the key of another model if a relation of Profile or of User says so, if its
// type is that of User's key, or if it is named after a model that GORM has seen. A value that was
// made up there would be a profile of nobody. A key such as UUID or PublicID is the model's own.
// docs/use/gorm.md says what is known before GORM has seen User.
//
// A model whose key would be left to GORM and the database, or to the app where neither a relation
// nor the tag autoIncrement:false says so, is refused when a table or rows are made of it, unless
// [Lenient] is among the rules.
//
// A key type is an alias. The defined type
//
//	type UserID idtype.DecimalID // wrong: no "="
//
// has no methods. It is an integer, which the database would number, so the plugin refuses a model
// whose only primary key is a defined int64, [8]byte, [10]byte or [16]byte without methods. A tag,
// autoIncrement or autoIncrement:false, says that it is meant. The database may number no ID but an
// [idtype.Sequence] that no rule assigns. In SQLite that takes type:integer as well.
//
// A map gets its ID under the column's name: db.Model(&User{}).Create(m) sets m["id"], a UserID.
// With a table's name and no model only [Rule.ForTable] says what the key is. Without such a rule
// nothing is assigned: ClickHouse stores zero, the other databases refuse the row.
//
// # Zero and NULL
//
// Zero means "not assigned", and no row is stored with it. A forgotten foreign key is an [*Error]
// that names the field and the row. Where it is optional, declare it as a pointer or as sqlid.Null
// if the column is NULL for none, and as [idtype.OrZero] if the column holds 0. In a map that is
// created, a key that is nil, 0 or "" is assigned.
//
// Zero is no condition either. GORM alone makes IS NULL of it, and Delete then takes the rows that
// belong to nobody. With the plugin each of these is an [*Error]: Where("boss_id", zero), Where("id
// = ?", zero), a map, a list, a struct with a pointer to zero, Delete(&User{}, zero). For NULL give
// nil.
//
// nil in a map is NULL, for a field that is a plain ID too, and so is a column that a created map
// lacks. With the tag "not null" the database refuses the row. A column that is NULL sets a pointer
// to nil, sql.Null and sqlid.Null to NULL, and a plain ID to zero, also in a struct that is used
// again. GORM alone leaves the old ID there, and Save writes it back.
//
// # Relations
//
// A foreign key has a type that stores what the key stores:
//
//	the key is stored as     the foreign key is
//	an integer of 64 bits    an ID that is an integer, int64, uint64, int or uint
//	text or a UUID           an ID of that form, or string
//	bytes                    an ID of as many bytes, or []byte
//
// Any other type is refused, and so is an ID of another entity. The [*Error] comes from all
// statements of the model, and names both fields. GORM would store a rune in the string OwnerID of
// a polymorphic relation, and find no row again. Declare the foreign key as the key, or as
// idtype.DecimalID for keys of several entities. A tag that changes what is stored is refused too,
// such as type:uuid for a key of bytes.
//
// # Conditions
//
// The field's type says what a value for a column of IDs means, in conditions and in maps alike:
//
//	Where("id", v), Where(map), clause.Eq …  an ID, a pointer, sql.Null; a text; []byte
//	First(&u, v), Delete(&u, v), Not(v) …    the same; a text by itself: see docs/use/gorm.md
//	Where("id", ids), Not(ids), IN ?         []ID, []*ID
//	Updates(map), Create(map), Assign(map)   as the first; an integer too; nil is NULL
//	Updates(patch), of another struct        the same
//	Where("id = ?", v), Raw, Exec            what the driver takes: an ID, a pointer, sql.Null
//
// A list of sql.Null needs its column, as in Where("id IN ?", list): by itself GORM takes it for
// the columns of a struct, and the database refuses the statement.
//
// A text is the ID's text, as JSON has it. A []byte is what the column holds, and never the digits
// of the column. For a column of UUIDs it may be a UUID. Anything else is an [*Error] before the
// statement is sent: a float, an ID of another entity or form, bytes of another length. An ID that
// names no entity, such as idtype.DecimalID, fits all. Where("user_id = ?", orderID) is such an
// error as well, unless the text has a subquery. GORM alone takes bytes for a list of numbers:
// Delete(&Event{}, id) deleted every row in MariaDB.
//
// An integer is compared with a column of integers as it is. An ID that is zero in clause.Gt is an
// error: begin with the integer 0. Where the model lacks the column, another model of the same
// table says what the column holds, as soon as GORM has seen it.
//
// # Conflicts
//
// On a conflict the row keeps its stored key. The ID minted for it is discarded, and what refers to
// it would dangle. So the plugin corrects the struct. After the statement it holds:
//
//	ON CONFLICT                            a row that was there before
//	updates                                its stored key, by RETURNING
//	updates, without RETURNING (MySQL)     zero
//	updates WHERE, several rows            zero
//	does nothing                           zero; in MariaDB its stored key
//	INSERT OR IGNORE                       zero
//	maps, in any case                      no key
//
// Where zero is possible the plugin may look up the statement's IDs, with one SELECT in the same
// transaction, unless the count of affected rows rules a conflict out.
//
// GORM itself saves the rows that others belong to, and those of many2many, with DO NOTHING. A
// company whose name is taken is not stored again. Its ID is then zero, so a user or a row of a
// join table that refers to it is an [*Error]. Look such rows up first.
//
// # Transactions
//
// The plugin asks for IDs before GORM begins its transaction, so that a source that waits for a
// number holds no connection. A transaction is there already if it is yours, that of
// CreateInBatches, or that of the row's parent. If the launch log is in the same database, the
// first ID may then wait for ever: the pool is used up, or the transaction is SQLite's one writer.
//
// So call the Ready of each generator as the app starts. It has its number then, and gets the next
// one in the background, long before it needs it. A generator.Sequence with blocks of 1 asks for
// each ID: with SQLite, mint those before the transaction.
//
// # Columns
//
// AutoMigrate, after [gorm.DB.Use], makes the columns of IDs, of pointers to them, of
// [database/sql.Null] and of [idtype.OrZero]. The ID's [idtype.Storage] says which:
//
//	          PostgreSQL        MySQL, MariaDB              SQLite    ClickHouse
//	integers  bigint            bigint                      bigint    Int64
//	bytes     bytea             binary(8), binary(10)       blob      FixedString(8), of 10
//	text      text COLLATE "C"  char(16), ascii, ascii_bin  char(16)  String
//	UUID      uuid              uuid, which MySQL has not   uuid      UUID
//
// A primary key is NOT NULL in each; GORM alone lets SQLite store NULL there. A second AutoMigrate
// finds nothing to change. A tag with a type that holds the IDs wins, also for the foreign keys to
// that column.
//
// For that db.Dialector is the plugin's own, outside of statements. This is the driver's:
//
//	db.Dialector.(interface{ Unwrap() gorm.Dialector }).Unwrap()
//
// Within a statement it is the driver's, because expressions and plugins of others look at its
// type. So a hook that migrates takes the app's *gorm.DB, and not its own.
//
// docs/use/gorm.md of the module has what is for few: tables that exist, the ways of each database,
// texts as conditions, lists, logs, and traps of GORM's. docs/results/speed.md has the time per row.
package gormid
