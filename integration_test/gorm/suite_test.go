// Package gorm_test holds package gormid against GORM: the suite, on SQLite and on servers, and a
// matrix of what apps do with GORM, whose keys of every scheme are to do what an int64 does.
package gorm_test

import (
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/idmint/idmint/integration_test/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

func TestSQLite(t *testing.T) { inSQLite.testAll(t) }

func TestPostgres(t *testing.T) { inPostgres(t, false).testAll(t) }

func TestPostgresSimpleProtocol(t *testing.T) {
	t.Parallel()
	d := inPostgres(t, true)
	t.Run("Columns", func(t *testing.T) { testColumns(t, d) })
	d.run(t, upserts, upserts)
}

func TestMariaDB(t *testing.T) { inMariaDB(t, false).testAll(t) }

// MySQL has no RETURNING, which is nothing to tests without conflicts.
func TestMySQL(t *testing.T) { inMariaDB(t, true).run(t, upserts, upserts) }

func TestClickHouse(t *testing.T) { inClickHouse(t).testAll(t) }

// What a test needs of the database, beside rows.
type need int

const (
	inserts need = 1 + iota // transactions, several inserts in one
	upserts                 // conflicts as well
)

type test = func(*testing.T, database)

// The suite runs on every database that has what a test needs.
var suite = map[need][]test{
	0: {
		testCreateStructs, testSetValuesStay, testFirstOrCreate, testHooks, testSessions, testContext,
		testEmbedded, testTwoKeysEmbedded, testKeyTypes, testSourceFails, testErrorOfTable,
		testCanceledContext, testNotAddressable, testCreateMaps, testMapSpellings,
		testTableMaps, testNilMaps, testSelectIsNotShared, testSelectOnTable, testTraps,
		testColumns, testGrownTable, testKeyOfAnotherType, testTypeTag, testRefuseTestIDs, testLiterals, testNumberedKeys,
		testKeysOfAnyName, testKeysOfOthers, testEntities, testHalfInstalled, testSmallerModel,
		testDialector, testLoggedLines, testZeroInSQL, testValuesAreNoConditions,
	},
	inserts: {
		testCreateInBatches, testGenericAPI, testDryRun, testFirstUse, testForeignKeysAreNotInvented,
		testForeignKeyKnownLater, testForAssignsForeignKeys, testZeroForeignKey, testAssociations,
		testAssociationsOfSlice, testAssociationsOfMaps, testCustomJoinTables,
		testSourceFailsForAssociation, testSelectAndOmit, testOmitOfAssignedKey, testJoinTableColumns,
		testTranslatedErrors, testTwoGenerators, testMovedApp, testNullKeys,
	},
	upserts: {
		testUpserts, testDoNothingWhereGORMMiscounts, testReturningKeepsOthers,
		testUpsertOfUnreadableKey, testUserUpdatesKey, testUpsertMaps, testScopes,
		testPoolOfOneConnection, testLookUpFails, testPhantomAssociation, testChildOfSkippedRow,
		testAssignedIsOfOneCreate, testSoftDeleted, testManySkipped, testLogWithoutParameters,
		testLoggedLookUp, testStatements,
	},
}

// What is the same everywhere, and the ways of one database, is tested in one.
var only = map[Kind][]test{
	SQLite: {
		testUnassigned, testMovedJSON, testMovedNumbers, testModelsOfLibraries,
		testWithoutUse, testValuesOfTheApp, testRefusals, testRefusalOfRow,
		testRefusalInSubquery, testOtherConditionsAreLeftAlone, testTextsByThemselves, testSQLByItself,
		testCausesOfValues, testTextsOfPatches, testErrorsNameTheField,
		testOtherKeysAreLeftAlone, testBadRules, testSeveralDatabases, testRulesAreImmutable,
		testDialectWithoutCallbacks, testRefusedModels, testModelsOfTheSameForm,
		testRefusedRelationOfAnother, testOmitOfSetKey, testLayouts, testAutoMigrate, testIntegerKeyInSQLite,
		testOneID, testUpsertOnKey,
	},
	MariaDB: {
		testAppendOfKnown, testMovedUnsigned,
	},
	ClickHouse: {
		testBatchInClickHouse, testZeroInClickHouse,
	},
}

// testAll runs the tests that apply to the database.
func (d database) testAll(t *testing.T) {
	has := upserts
	if d.Kind == ClickHouse {
		has = 0 // neither unique keys nor transactions, and GORM's driver makes one insert of each
	}
	d.run(t, 0, has)
	for _, test := range only[d.Kind] {
		d.runOne(t, test)
	}
}

// run runs the tests that need from to upserts.
func (d database) run(t *testing.T, from, to need) {
	for needs := from; needs <= to; needs++ {
		for _, test := range suite[needs] {
			d.runOne(t, test)
		}
	}
}

// runOne runs a test under its function's name.
func (d database) runOne(t *testing.T, test test) {
	name := runtime.FuncForPC(reflect.ValueOf(test).Pointer()).Name()
	name = name[strings.LastIndex(name, ".test")+len(".test"):]
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		test(t, d)
	})
}
