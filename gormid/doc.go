// Package gormid has GORM assign idmint IDs: a plugin that gives a primary key to every row that is
// created without one.
//
//	gen, err := generator.NewDecimal(numbers)
//	err = gen.Ready(ctx) // before the first transaction: see below
//	err = db.Use(gormid.New(gormid.Use(gen)))
//
//	type User struct {
//		ID   UserID // = idtype.Decimal[User]
//		Name string
//	}
//	u := User{Name: "Ann"}
//	err = db.Create(&u).Error // u.ID is set
//
// It is a callback, not a hook, and works on the field, so it does not matter how rows are created:
// structs, slices and arrays of them, maps, batches, associations at any depth, Save,
// FirstOrCreate, the generic API, with SkipHooks, Select and Omit. Rows that one statement creates
// get their IDs from one reservation; CreateInBatches makes one statement per batch. The
// statement's context goes to the source. If the source fails, nothing is inserted and no row is
// changed; the error is an [*Error] that wraps the source's. Hooks see the ID.
//
// Call Use on what gorm.Open returned. AutoMigrate the models, or read each once, before goroutines
// start: the plugin prepares a model at its first statement, and Scan after Raw reads it without
// one, which is a race.
//
// # Which keys
//
//	the primary key                        the plugin
//	an ID, or a pointer to one; zero/nil   assigns, if a rule is for the ID's scheme or for the model
//	the same, set                          leaves it
//	part of a composite key                leaves it
//	a foreign key, or named like one       leaves it to the relation; still zero is an error; [Rule.For] assigns
//	tagged autoIncrement                   leaves it to the database; [Rule.For] assigns
//	of any other type, uint or string      leaves it to GORM and the database
//	of type UserID idtype.DecimalID        refuses the model
//
// Profile.UserID is a foreign key if GORM has seen a relation that says so, in the model or in one
// that has it, and is named like one in any case: any name that ends in ID, but for ID itself and
// the model's own, User.UserID. Inventing a value there would make a profile of nobody.
//
// A key type is an alias, as above. A defined type, type UserID idtype.DecimalID, has none of the
// methods: it is an integer, which the database would number. Nothing tells it from an integer of
// your own. So the plugin refuses a primary key, if it is the only one, of a defined int64, [8]byte
// or [10]byte without methods. The tag autoIncrement, or autoIncrement:false, says that it is
// meant.
//
// In SQLite the tag autoIncrement has an effect on an ID only together with type:integer.
//
// # Zero
//
// An ID that is zero is not stored. A foreign key that was forgotten is an [*Error] that wraps
// [idtype.ErrZero] and names the field and the row. An optional foreign key is a pointer, whose nil
// is NULL.
//
// An ID that is zero is no condition either. GORM alone makes IS NULL of it, and Delete then takes
// the rows that belong to nobody. With the plugin each of these is an [*Error]: Where("boss_id",
// zero), a map, a struct with a pointer to zero, Delete(&User{}, zero). For NULL give nil.
//
// nil in a map is NULL, for a field that is a plain ID too: tag it "not null". In a map that is
// created, a key that is nil, 0 or "" is one that is to be assigned.
//
// # NULL
//
// A row that is read sets a pointer to nil, sql.Null and sqlid.Null to NULL, and a plain ID to
// zero, where the column is NULL. It does so in a struct that is used again too. GORM alone leaves
// the old ID there, and Save writes it back.
//
// # Relations
//
// A foreign key holds what the key holds: an ID of the same storage form. Integers of 64 bits may
// hold integers, a string texts and UUIDs, and []byte bytes. A string, a smaller integer or an ID
// of another form is an [*Error] of all statements of the model, which names both fields. GORM
// would store a rune in the string OwnerID of a polymorphic relation, and find no row again.
// Declare it as the key, or as idtype.DecimalID for keys of several entities.
//
// A tag with a type that changes what is stored is refused too, as type:uuid for a key of bytes.
//
// # Conditions
//
// A value for a column of IDs is taken by the field's type, in conditions and in maps alike:
//
//	Where("id", v), Where(map), clause.Eq …   an ID, a pointer, sql.Null; its text; []byte as the column has it
//	First(&u, v), Delete(&u, v), Not(v) …     the same; a text by itself: see below
//	Where("id", ids), Not(ids), IN ?          []ID, []*ID, idtype.Slice
//	Updates(map), Create(map), Assign(map)    as the first; an integer too; nil is NULL
//	Updates(patch), of another struct         the same
//	Where("id = ?", v), Raw, Exec             only what the driver takes: an ID, a pointer, sql.Null
//
// A text is an ID's text, as JSON has it, and never the digits of its column; for a column of UUIDs
// it may be a UUID. What is no ID of the column is an [*Error], before anything is sent: a float,
// an ID of another form, bytes of another length. GORM alone takes bytes for a list of numbers:
// Delete(&Event{}, id) deleted every row in MariaDB.
//
// An integer is compared with a column of integers as it is. clause.Gt with an ID that is zero is
// an error: begin with the integer 0. Of maps that are created, the values become IDs.
//
// A text by itself, First(&u, text), is SQL to GORM. First(&u, "39706634-…") is arithmetic, and
// true. The plugin takes for the key what begins with a digit or a dash and goes on with digits,
// letters, dashes and underscores, and the 16 characters of an ID that is bytes. If the first is no
// ID, it is an [*Error]. The text of a short ID that begins with a letter stays SQL.
//
// An idtype.Slice is one text of JSON. Where a list is wanted the plugin spreads it, or refuses it:
// = ANY(?), Raw("… IN (?)"). To json_each(?) and its like, and to a column of JSON, it goes as it
// is.
//
// # Logs
//
// The logger and [gorm.DB.ToSQL] write an ID as a literal that the database reads as the ID: x'…',
// '\x…'::bytea, unhex('…'). GORM alone writes '<binary>', which is eight bytes. In place of a value
// that was refused stands /* refused */, so that nobody runs the rest.
//
// # Maps
//
// A map gets its ID under the name that it has for the key, or else under the column's:
// db.Model(&User{}).Create(m) sets m["id"], a UserID. With a table's name and no model, nothing
// says what the key is but [Rule.ForTable]; without that rule nothing is assigned; ClickHouse then
// stores zero, and the others refuse the row. Association.Append takes maps as well.
//
// # Upserts
//
// A row that meets a conflict keeps the key that it has in the database, and the ID that was minted
// for it is nowhere. The struct must not hold that one, or what refers to it would dangle. After
// the statement it holds:
//
//	ON CONFLICT                                      a row that was there before
//	updates                                          its stored key, by RETURNING
//	updates, without RETURNING (MySQL)               zero
//	updates WHERE, several rows                      zero
//	does nothing, or INSERT OR IGNORE                zero
//	maps, in any case                                no key
//
// Where zero is possible and the count of affected rows does not rule it out, it takes one more
// SELECT of the statement's IDs, in the same transaction. GORM saves the rows that others belong
// to, and those of many2many, with DO NOTHING: a company whose name is taken is not stored again,
// so a user that refers to it fails for a CompanyID that is zero, and does not dangle; nor does a
// row of a join table. Look such rows up before.
//
// # Transactions and connections
//
// IDs are minted before GORM begins its transaction, so a generator that waits for a number holds
// no connection. A transaction of yours does hold one, CreateInBatches begins one first, and
// associations are created in that of their parent. Where the numbers come from the same database,
// its pool may be used up or, in SQLite, its one writer may be that transaction: the first ID would
// wait for a lock that is let go of after it. So call the Ready of each generator as the app
// starts. It has its number then, and gets the next one in the background, long before it needs it.
// A generator.Sequence with blocks of 1 asks for each ID: with SQLite, mint those before.
//
// A create that fails at the database, or is rolled back, leaves the IDs in the structs. They are
// still theirs alone, and the same structs can be created again; being set, those IDs are then not
// the plugin's to take back after a conflict.
//
// # Columns
//
// AutoMigrate, after [gorm.DB.Use], makes the columns of IDs, typed keys, pointers to them,
// [database/sql.Null] and [idtype.OrZero] by their [idtype.Storage]. The database numbers none, and
// a second AutoMigrate finds nothing to change. A tag with a type that holds the IDs has the last
// word, for the foreign keys to that column as well.
//
// A column that is there with another type is changed, but for a primary key, which GORM never
// changes: that is an [*Error], as IDs do not fit, or sort and compare otherwise. Of a text's
// collation GORM knows nothing, and SQLite, where any column takes any type, is not asked.
//
//	          PostgreSQL              MySQL, MariaDB              SQLite    ClickHouse
//	integers  bigint                  bigint                      bigint    Int64
//	bytes     bytea                   binary(8), binary(10)       blob      FixedString(8), FixedString(10)
//	text      text COLLATE "C"        char(16), ascii, ascii_bin  char(16)  String
//	UUID      uuid                    uuid, which MySQL has not   uuid      UUID
//
// A primary key is NOT NULL in each; GORM alone lets SQLite store NULL there.
//
// For that db.Dialector is the plugin's own: what needs the driver's, by a type assertion, finds it
// with
//
//	db.Dialector.(interface{ Unwrap() gorm.Dialector }).Unwrap()
//
// # PostgreSQL
//
// All of the above holds, with PrepareStmt and, as poolers need it, with PreferSimpleProtocol.
// After an error a transaction of yours takes no more statements: put what may fail into one of its
// own, tx.Transaction, which is a savepoint.
//
// # MySQL and MariaDB
//
// Each unique key counts as a conflict, whatever columns OnConflict names, and it has no WHERE:
// GORM's driver drops both. MariaDB has RETURNING from 10.5 on; MySQL has none, so a row that was
// updated holds zero. MariaDB takes it for an update to do nothing, so with clause.Returning of the
// key known rows hold their stored one.
//
// # SQLite
//
// A bigint key is a unique index beside the table; for an app that uses SQLite only the tag
// `gorm:"type:integer"` makes it the row's number instead, which saves the index. The price: a row
// that is inserted without a key, by other means than this plugin, gets the largest number plus one
// from SQLite, which is an ID of another launch. Without that tag SQLite refuses such a row.
//
// # ClickHouse
//
//	type Reading struct {
//		ID ReadingID `gorm:"codec:Delta,ZSTD(1)"`
//		…
//	}
//	err = db.Set("gorm:table_options", "ENGINE = MergeTree ORDER BY id").AutoMigrate(&Reading{})
//	err = db.Create(&readings).Error // one batch, one reservation
//
// A pointer and sql.Null are Nullable columns, all others are not. Set
// DisableForeignKeyConstraintWhenMigrating: there are none. GORM's driver sends an INSERT as its
// transaction ends, and one per transaction: CreateInBatches works for a single batch, associations
// are to be created apart, and with SkipDefaultTransaction nothing is stored and no error tells. It
// has no upserts. A pointer to an ID that is nil is an [*Error], where the driver would panic: use
// sql.Null or, smaller and faster, OrZero. An ID as text belongs in a String: in a FixedString the
// driver stores other bytes, which cannot be read back.
//
// # Traps of GORM's
//
//   - First(&u, s) with a string is SQL, but for the texts of keys above. Parse what comes from
//     outside, with [idtype.Parse].
//   - Find(&users, []UserID{}) has no condition, and reads all rows. Where("id IN ?", ids) reads
//     none.
//   - Where(&User{ID: id}) leaves out an ID that is zero, and reads all rows. Where("id = ?", id)
//     is an error then.
//   - Where("id = ANY(?)", ids) is a syntax error: GORM spreads lists. Write IN ?.
//   - Scan(&id) into a single ID counts no row, and takes an ID of bytes for a list of bytes.
//     Pluck("id", &id), Row().Scan(&id) and Take(&id) are right.
//   - A []byte that a map got from Take is an ID to the plugin, but for Attrs and Assign, where
//     GORM drops it, and for Raw("… IN (?)"), which spreads it. Hand over the ID.
//   - First(&u, "") has no condition, and reads the first row.
//   - Where("id = ?", text) hands the text to the database, which finds no key of bytes by it.
//     Where("id", text) does.
//   - Updates(map) with the key in it changes the key: Omit("id").
//   - What belongs to a table that is joined by SQL, Joins("JOIN …"), no model tells. Hand over the
//     ID.
//   - First(&u, p) panics if p is a nil pointer to an ID: GORM calls its Value.
package gormid
