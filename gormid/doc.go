// Package gormid is a plugin of GORM that assigns primary keys to the rows that GORM creates.
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
// Call Use on the result of gorm.Open, before you create sessions from it: statements of a session
// that lacks the plugin are errors. Call AutoMigrate before goroutines start. An app that does not
// migrate should read each model once instead. The plugin prepares a model at its first statement,
// and if that is a [gorm.DB.Scan] after Raw, preparing it is a data race.
//
// The compiler may crash on a model that points to its own key. docs/reference/versions.md
// describes a workaround.
//
// # Terms
//
// A source mints IDs of one scheme. Generators are sources: see [Source]. A rule says which keys a
// source mints. The rules that [New] and [Use] create are general: they apply to every model whose
// key is an ID of the source's scheme. [Rule.For] limits a rule to models, and [Rule.ForTable]
// limits it to tables.
//
// # What it promises
//
// Rows get keys however they are created: by structs, slices and arrays of structs, maps, batches,
// associations at any depth, Save, FirstOrCreate and the generic API. That includes SkipHooks and
// Select, because the plugin is a callback and not a hook. It is an error to Omit a key that a rule
// assigns.
//
// A statement asks its source once for all its rows, with the statement's context. CreateInBatches
// runs one statement per batch. Hooks see the ID. If the source fails, nothing is inserted and no
// row is changed.
//
// If the database rejects a create, or a transaction is rolled back, the IDs stay in the structs,
// and no other row gets them. The same structs can be created again. The plugin then regards these
// IDs as set by the app, and leaves them in place after a conflict.
//
// # Which keys
//
//	the primary key                       the plugin
//	an ID or a pointer to one; zero, nil  assigns, if a rule is for its scheme or for the model
//	the same, set                         leaves it
//	part of a composite key               leaves it; zero is an error
//	the key of another model              leaves it; zero is an error; [Rule.For] assigns
//	an ID tagged autoIncrement            rejects the model
//	of any other type, uint or string     rejects the model; with [Lenient] leaves it
//	of type UserID idtype.DecimalID       rejects the model
//
// Profile.UserID is the key of another model if a relation of Profile or of User refers to it, if
// its type is the type of User's key, or if it is named after a model that GORM has seen. Only
// [Rule.For] makes the plugin mint such a key, because otherwise the profile would belong to no
// user. A key such as UUID or PublicID is the model's own. docs/use/gorm.md describes what is known
// before GORM has seen User.
//
// Unless [Lenient] is among the rules, the plugin refuses to create the table or rows of a model
// whose key it would have to leave to GORM and the database. The same applies to a key that is left
// to the app, unless the model has a relation or the tag autoIncrement:false for it.
//
// A key type is an alias. The defined type
//
//	type UserID idtype.DecimalID // wrong: no "="
//
// has no methods. To the database it would be an integer to number, so the plugin rejects a model
// whose only primary key is a defined int64, [8]byte, [10]byte or [16]byte without methods. If such
// a key is intended, tag it with autoIncrement or autoIncrement:false. The database may number only
// one kind of ID, an [idtype.Sequence] that no rule assigns. In SQLite that also requires
// type:integer.
//
// A map gets its ID under the column's name: db.Model(&User{}).Create(m) sets m["id"], a UserID. If
// there is a table's name and no model, only [Rule.ForTable] says what the key is. Without such a
// rule nothing is assigned: ClickHouse stores zero, and the other databases reject the row.
//
// # Zero and NULL
//
// Zero means "not assigned", and no row is stored with it. A forgotten foreign key is an [*Error]
// that names the field and the row. If a foreign key is optional, declare it as a pointer or as
// sqlid.Null if the column is NULL for none, or as [idtype.OrZero] if the column holds 0. In a map
// that is created, a key that is nil, 0 or "" is assigned.
//
// Zero is not a condition either. Without the plugin, GORM turns it into IS NULL, and Delete then
// deletes the rows that belong to nobody. With the plugin, each of these is an [*Error]:
// Where("boss_id", zero), Where("id = ?", zero), a map, a list, a struct with a pointer to zero,
// Delete(&User{}, zero). Pass nil for NULL.
//
// In a map, nil means NULL, even for a field that is a plain ID, and so does a missing column in a
// map that is created. With the tag "not null" the database rejects the row. When a column is NULL,
// reading it sets a pointer to nil, sql.Null and sqlid.Null to NULL, and a plain ID to zero, even
// in a struct that is reused. Without the plugin, GORM leaves the old ID in such a struct, and Save
// writes it back.
//
// # Relations
//
// The type of a foreign key must store the same as the key:
//
//	the key is stored as     the foreign key is
//	an integer of 64 bits    an ID that is an integer, int64, uint64, int or uint
//	text or a UUID           an ID of that form, or string
//	bytes                    an ID of as many bytes, or []byte
//
// Any other type is rejected, and so is an ID of another entity. The [*Error] comes from all
// statements of the model, and names both fields. Otherwise GORM would store a rune in the string
// OwnerID of a polymorphic relation, and never find a row again. Declare the foreign key with the
// type of the key, or as idtype.DecimalID for keys of several entities. A tag that changes what is
// stored is rejected as well, such as type:uuid for a key of bytes.
//
// # Conditions
//
// The type of the field decides what a value for a column of IDs means, in conditions and in maps
// alike:
//
//	Where("id", v), Where(map), clause.Eq …  an ID, a pointer, sql.Null; a text; []byte
//	First(&u, v), Delete(&u, v), Not(v) …    the same; a text alone: see docs/use/gorm.md
//	Where("id", ids), Not(ids), IN ?         []ID, []*ID
//	Updates(map), Create(map), Assign(map)   as the first; an integer too; nil is NULL
//	Updates(patch), of another struct        the same
//	Where("id = ?", v), Raw, Exec            what the driver accepts: an ID, a pointer, sql.Null
//
// A list of sql.Null needs its column, as in Where("id IN ?", list): without a column, GORM
// mistakes the list for the columns of a struct, and the database rejects the statement.
//
// A text is the ID's text, as in JSON. A []byte is the content of the column, and never its digits;
// for a column of UUIDs it may be a UUID. Anything else is an [*Error] before the statement is
// sent: a float, an ID of another entity or form, or bytes of another length. An ID that names no
// entity, such as idtype.DecimalID, fits every entity. Where("user_id = ?", orderID) is such an
// error as well, unless the text contains a subquery. Without the plugin, GORM treats bytes as a
// list of numbers: Delete(&Event{}, id) deleted every row in MariaDB.
//
// An integer is compared with a column of integers as it is. A zero ID in clause.Gt is an error:
// begin with the integer 0. If the model lacks the column, another model of the same table
// determines what the column holds, as soon as GORM has seen it.
//
// # Conflicts
//
// On a conflict the row keeps its stored key, and the ID minted for it is discarded. Since
// references to that ID would dangle, the plugin corrects the struct. After the statement it holds:
//
//	ON CONFLICT                            a row that was there before
//	updates                                its stored key, by RETURNING
//	updates, without RETURNING (MySQL)     zero
//	updates WHERE, several rows            zero
//	does nothing                           zero; in MariaDB its stored key
//	INSERT OR IGNORE                       zero
//	maps, in any case                      no key
//
// If zero is possible, the plugin may look up the statement's IDs with one SELECT in the same
// transaction, unless the number of affected rows rules out a conflict.
//
// GORM itself uses DO NOTHING to save the rows that others belong to, and the rows of many2many. If
// a company's name is taken, the company is not stored again and its ID becomes zero, so a user or
// a row of a join table that refers to it is an [*Error]. Look such rows up first.
//
// # Transactions
//
// The plugin asks for IDs before GORM begins its transaction, so that a source that waits for a
// number does not hold a connection. However, a transaction has already begun if you began it, or
// if CreateInBatches or the create of the row's parent did. If the launch log is in the same
// database, the first ID may then wait forever, because the pool is used up, or because the
// transaction is SQLite's only writer.
//
// Therefore, call Ready of each generator when the app starts. The generator then has a number, and
// gets the next one in the background, long before it is needed. A generator.Sequence with blocks
// of 1 asks for each ID: with SQLite, mint those IDs before the transaction.
//
// # Columns
//
// After [gorm.DB.Use], AutoMigrate creates the columns of IDs, of pointers to them, of
// [database/sql.Null] and of [idtype.OrZero]. The ID's [idtype.Storage] determines their types:
//
//	          PostgreSQL        MySQL, MariaDB              SQLite    ClickHouse
//	integers  bigint            bigint                      bigint    Int64
//	bytes     bytea             binary(8), binary(10)       blob      FixedString(8), of 10
//	text      text COLLATE "C"  char(16), ascii, ascii_bin  char(16)  String
//	UUID      uuid              uuid, not in MySQL          uuid      UUID
//
// A primary key is NOT NULL in all of them; without the plugin, GORM lets SQLite store NULL. A
// second AutoMigrate finds nothing to change. A tag with a type that can hold the IDs takes
// precedence, also for foreign keys to that column.
//
// To this end, db.Dialector is the plugin's own, outside of statements. This returns the driver's:
//
//	db.Dialector.(interface{ Unwrap() gorm.Dialector }).Unwrap()
//
// Within a statement, db.Dialector is the driver's, because expressions and other plugins look at
// its type. A hook that migrates should therefore use the app's *gorm.DB instead of the one that it
// was given.
//
// docs/use/gorm.md of the module covers advanced topics: existing tables, the peculiarities of each
// database, texts as conditions, lists, logs, and pitfalls of GORM. docs/results/speed.md lists the
// time per row.
package gormid
