package gormid_test

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// What a test needs of the database, beside rows.
type need int

const (
	inserts need = 1 + iota // transactions, several inserts in one
	upserts                 // conflicts as well
)

// The suite runs on every database that has what a test needs.
var suite = []struct {
	name  string
	test  func(*testing.T, dialect)
	needs need
}{
	{"CreateStructs", testCreateStructs, 0},
	{"SetValuesStay", testSetValuesStay, 0},
	{"CreateInBatches", testCreateInBatches, inserts},
	{"GenericAPI", testGenericAPI, inserts},
	{"FirstOrCreate", testFirstOrCreate, 0},
	{"DryRun", testDryRun, inserts},
	{"PreparedStatements", testPreparedStatements, inserts},
	{"SkipDefaultTransaction", testSkipDefaultTransaction, inserts},
	{"Hooks", testHooks, 0},
	{"Sessions", testSessions, 0},
	{"Context", testContext, 0},
	{"Concurrency", testConcurrency, inserts},
	{"FirstUse", testFirstUse, inserts},
	{"Upserts", testUpserts, upserts},
	{"DoNothingWhereGORMMiscounts", testDoNothingWhereGORMMiscounts, upserts},
	{"ReturningKeepsOthers", testReturningKeepsOthers, upserts},
	{"UpsertOfUnreadableKey", testUpsertOfUnreadableKey, upserts},
	{"UserUpdatesKey", testUserUpdatesKey, upserts},
	{"UpsertMaps", testUpsertMaps, upserts},
	{"ForeignKeysAreNotInvented", testForeignKeysAreNotInvented, inserts},
	{"ForeignKeyKnownLater", testForeignKeyKnownLater, 0},
	{"ForAssignsForeignKeys", testForAssignsForeignKeys, inserts},
	{"ZeroForeignKey", testZeroForeignKey, inserts},
	{"NoRule", testNoRule, 0},
	{"Associations", testAssociations, inserts},
	{"AssociationsOfSlice", testAssociationsOfSlice, inserts},
	{"AssociationMode", testAssociationMode, inserts},
	{"UpdatesCreateAssociations", testUpdatesCreateAssociations, inserts},
	{"CustomJoinTables", testCustomJoinTables, inserts},
	{"Embedded", testEmbedded, 0},
	{"TwoKeysEmbedded", testTwoKeysEmbedded, 0},
	{"KeyTypes", testKeyTypes, 0},
	{"SourceFails", testSourceFails, 0},
	{"ErrorOfTable", testErrorOfTable, 0},
	{"SourceFailsForAssociation", testSourceFailsForAssociation, inserts},
	{"CanceledContext", testCanceledContext, 0},
	{"EarlierErrorWins", testEarlierErrorWins, 0},
	{"Scopes", testScopes, upserts},
	{"NotAddressable", testNotAddressable, 0},
	{"Transactions", testTransactions, inserts},
	{"BatchFails", testBatchFails, inserts},
	{"PoolOfOneConnection", testPoolOfOneConnection, upserts},
	{"LookUpFails", testLookUpFails, upserts},
	{"CreateMaps", testCreateMaps, 0},
	{"MapSpellings", testMapSpellings, 0},
	{"MixedMaps", testMixedMaps, 0},
	{"TableMaps", testTableMaps, 0},
	{"MapOfTypedKey", testMapOfTypedKey, 0},
	{"NilMaps", testNilMaps, 0},
	{"PhantomAssociation", testPhantomAssociation, upserts},
	{"ChildOfSkippedRow", testChildOfSkippedRow, upserts},
	{"AssignedIsOfOneCreate", testAssignedIsOfOneCreate, upserts},
	{"SoftDeleted", testSoftDeleted, upserts},
	{"ManySkipped", testManySkipped, upserts},
	{"LogWithoutParameters", testLogWithoutParameters, upserts},
	{"Statements", testStatements, upserts},
	{"SelectAndOmit", testSelectAndOmit, inserts},
	{"SelectIsNotShared", testSelectIsNotShared, 0},
	{"SelectOnTable", testSelectOnTable, 0},
	{"Traps", testTraps, 0},
	{"ZeroInStructCondition", testZeroInStructCondition, 0},
	{"IDsThatAreNotIntegers", testIDsThatAreNotIntegers, 0},
	{"Columns", testColumns, 0},
	{"JoinTableColumns", testJoinTableColumns, inserts},
	{"Schemes", testSchemes, inserts},
	{"Reads", testReads, inserts},
	{"TranslatedErrors", testTranslatedErrors, inserts},
	{"GrownTable", testGrownTable, 0},
	{"KeyOfAnotherType", testKeyOfAnotherType, 0},
	{"TypeTag", testTypeTag, 0},
	{"TwoGenerators", testTwoGenerators, inserts},
	{"Literals", testLiterals, 0},
}

// run runs the tests that need from to upserts, and says how many there are.
func (d dialect) run(t *testing.T, from, to need) {
	ran := 0
	for _, test := range suite {
		if from <= test.needs && test.needs <= to {
			ran++
			t.Run(test.name, func(t *testing.T) { test.test(t, d) })
		}
	}
	t.Logf("%d of %d tests apply", ran, len(suite))
}

func TestSQLite(t *testing.T) { inSQLite.run(t, 0, upserts) }

func TestPostgres(t *testing.T) { in(t, databases.Postgres).run(t, 0, upserts) }

func TestPostgresSimpleProtocol(t *testing.T) {
	d := in(t, databases.Postgres)
	d.simple = true
	t.Run("Schemes", func(t *testing.T) { testSchemes(t, d) })
	d.run(t, upserts, upserts)
}

func TestMariaDB(t *testing.T) { in(t, databases.MariaDB).run(t, 0, upserts) }

// MySQL has no RETURNING, which is nothing to tests without conflicts.
func TestMySQL(t *testing.T) {
	d := in(t, databases.MariaDB)
	d.plain = true
	d.run(t, upserts, upserts)
}

// ClickHouse has neither unique keys nor transactions, and GORM's driver makes one insert of each.
func TestClickHouse(t *testing.T) { in(t, databases.ClickHouse).run(t, 0, 0) }

// in makes a database for the test on the shared server.
func in(t testing.TB, kind databases.Kind) dialect {
	t.Helper()
	name := dbtest.New(t, kind)
	server, err := sql.Open(name.Driver(), name.Source())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	d := dialect{kind: kind, server: server}
	switch kind {
	case databases.Postgres:
		d.source = name.Source() + "&search_path=%s"
	case databases.MariaDB:
		d.source = strings.Replace(name.Source(), "/"+name.Database(), "/%s", 1) + "?parseTime=true"
	case databases.ClickHouse:
		d.source = strings.Replace(name.Source(), "/"+name.Database(), "/%s", 1)
	}
	return d
}
