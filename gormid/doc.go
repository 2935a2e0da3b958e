// Package gormid has GORM assign idmint IDs: a plugin that gives a primary key to every row that is created without one.
//
//	gen, err := generator.NewDecimal(launch, numbers)
//	err = db.Use(gormid.New(gormid.Use(gen)))
//
//	type User struct {
//		ID   UserID // = idtype.Decimal[User]
//		Name string
//	}
//	u := User{Name: "Ann"}
//	err = db.Create(&u).Error // u.ID is set
//
// It is a callback, not a hook, and works on the field, so it does not matter how rows are created: structs, slices and
// arrays of them, maps, batches, associations at any depth, Save, FirstOrCreate, the generic API, with SkipHooks, Select and
// Omit. Rows that one statement creates get their IDs from one reservation; CreateInBatches makes one statement per batch.
// The statement's context goes to the source. If the source fails, nothing is inserted and no row is changed; the error is
// an [*Error] that wraps the source's. Hooks see the ID.
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
//
// Profile.UserID is a foreign key if GORM has seen a relation that says so, in the model or in one that has it, and is named
// like one in any case: any name that ends in ID, but for ID itself and the model's own, User.UserID. Inventing a value
// there would make a profile of nobody.
//
// A key type is an alias, as above, and not a defined type: type UserID idtype.DecimalID has none of the methods, and GORM
// takes it for an integer that the database counts up.
//
// # Zero
//
// An ID that is zero is not stored. A foreign key that was forgotten is an [*Error] that wraps [idtype.ErrZero] and names
// the field and the row. An optional foreign key is a pointer, whose nil is NULL.
//
// # Maps
//
// A map gets its ID under the name that it has for the key, or else under the column's: db.Model(&User{}).Create(m) sets
// m["id"], a UserID. With a table's name and no model, nothing says what the key is but [Rule.ForTable]; without that rule
// nothing is assigned, and SQLite stores NULL, ClickHouse zero; the others refuse the row. Association.Append takes maps as well.
//
// # Upserts
//
// A row that meets a conflict keeps the key that it has in the database, and the ID that was minted for it is nowhere. The
// struct must not hold that one, or what refers to it would dangle. After the statement it holds:
//
//	ON CONFLICT                                      a row that was there before
//	updates                                          its stored key, by RETURNING
//	updates, without RETURNING (MySQL)               zero
//	updates WHERE, several rows                      zero
//	does nothing, or INSERT OR IGNORE                zero
//	maps, in any case                                no key
//
// Where zero is possible and the count of affected rows does not rule it out, it takes one more SELECT of the statement's IDs,
// in the same transaction. GORM saves the rows that others belong to, and those of many2many, with DO NOTHING: a company
// whose name is taken is not stored again, so a user that refers to it fails for a CompanyID that is zero, and does not
// dangle; nor does a row of a join table. Look such rows up before.
//
// # Transactions and connections
//
// IDs are minted before GORM begins its transaction, so a generator that waits for a number holds no connection. A
// transaction of yours does hold one, and CreateInBatches begins one first. Where the numbers come from the same database,
// and its pool may be used up or, in SQLite, its one writer may be that transaction, call the generator's Ready as the app
// starts: it has its number then, and gets the next one long before it needs it.
//
// A create that fails at the database, or is rolled back, leaves the IDs in the structs. They are still theirs alone, and the
// same structs can be created again; being set, those IDs are then not the plugin's to take back after a conflict.
//
// # Columns
//
// AutoMigrate, after [gorm.DB.Use], makes the columns of IDs, typed keys, pointers to them, [database/sql.Null] and
// [idtype.OrZero] by their [idtype.Storage]. The database numbers none, and a second AutoMigrate finds nothing to change. A tag with
// a type has the last word, for the foreign keys to that column as well.
//
// A column that is there with another type is changed, but for a primary key, which GORM never changes: that is an [*Error], as IDs do
// not fit, or sort and compare otherwise. Of a text's collation GORM knows nothing, and SQLite, where any column takes any type, is
// not asked.
//
//	          PostgreSQL              MySQL, MariaDB              SQLite    ClickHouse
//	integers  bigint                  bigint                      bigint    Int64
//	bytes     bytea                   binary(8), binary(10)       blob      FixedString(8), FixedString(10)
//	text      text COLLATE "C"        char(16), ascii, ascii_bin  char(16)  String
//	UUID      uuid                    uuid, which MySQL has not   uuid      UUID
//
// For that db.Dialector is the plugin's own in all but SQLite: what needs the driver's, by a type assertion, finds it with
//
//	db.Dialector.(interface{ Unwrap() gorm.Dialector }).Unwrap()
//
// # PostgreSQL
//
// All of the above holds, with PrepareStmt and, as poolers need it, with PreferSimpleProtocol. After an error a transaction of yours
// takes no more statements: put what may fail into one of its own, tx.Transaction, which is a savepoint.
//
// # MySQL and MariaDB
//
// Each unique key counts as a conflict, whatever columns OnConflict names, and it has no WHERE: GORM's driver drops both. MariaDB
// has RETURNING from 10.5 on; MySQL has none, so a row that was updated holds zero. MariaDB takes it for an update to do nothing,
// so with clause.Returning of the key known rows hold their stored one.
//
// # SQLite
//
// A bigint key is a unique index beside the table; for an app that uses SQLite only the tag `gorm:"type:integer"` makes it the
// row's number instead, which saves the index. The price: a row that is inserted without a key, by other means than this plugin,
// gets the largest number plus one from SQLite, which is an ID of another launch. Without that tag SQLite stores NULL there, unless
// the tag says "not null".
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
// A pointer and sql.Null are Nullable columns, all others are not. Set DisableForeignKeyConstraintWhenMigrating: there are none.
// GORM's driver sends an INSERT as its transaction ends, and one per transaction: CreateInBatches works for a single batch,
// associations are to be created apart, and with SkipDefaultTransaction nothing is stored and no error tells. It has no upserts.
// A pointer to an ID that is nil is an [*Error], where the driver would panic: use sql.Null or, smaller and faster, OrZero.
// An ID as text belongs in a String: in a FixedString the driver stores other bytes, which cannot be read back.
//
// # Traps of GORM's
//
//   - First(&u, id) finds by key. First(&u, s) with a string is by key only if s is a plain number, and is SQL otherwise:
//     parse what comes from outside, with [idtype.Parse].
//   - Find(&users, []UserID{}) has no condition, and reads all rows. Where("id IN ?", ids) reads none.
//   - Where(&User{ID: id}) leaves out an ID that is zero, and reads all rows. Where("id = ?", id) is an error then.
//   - GORM reads NULL into a field that is a plain ID as zero, without an error: its own way to read integers does not ask
//     Scan. A nullable column is a pointer or sql.Null.
//   - Where("id = ANY(?)", ids) is a syntax error: GORM spreads lists. Write IN ?, or hand over an [idtype.Slice].
package gormid
