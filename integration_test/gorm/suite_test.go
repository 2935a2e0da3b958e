// Package gorm_test holds package gormid against GORM: the suite, on SQLite and on servers, and a
// matrix of what apps do with GORM, whose keys of every scheme are to do what an int64 does.
package gorm_test

import (
	"testing"

	"github.com/idmint/idmint/integration_test/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

func TestSQLite(t *testing.T) { inSQLite.testAll(t) }

func TestPostgres(t *testing.T) { inPostgres(t, false).testAll(t) }

func TestPostgresSimpleProtocol(t *testing.T) {
	t.Parallel()
	d := inPostgres(t, true)
	t.Run("Schemes", func(t *testing.T) { testSchemes(t, d) })
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

// The suite runs on every database that has what a test needs.
var suite = []struct {
	name  string
	test  func(*testing.T, database)
	needs need
}{
	{"CreateStructs", testCreateStructs, 0},
	{"SetValuesStay", testSetValuesStay, 0},
	{"CreateInBatches", testCreateInBatches, inserts},
	{"GenericAPI", testGenericAPI, inserts},
	{"FirstOrCreate", testFirstOrCreate, 0},
	{"DryRun", testDryRun, inserts},
	{"Hooks", testHooks, 0},
	{"Sessions", testSessions, 0},
	{"Context", testContext, 0},
	{"FirstUse", testFirstUse, inserts},
	{"Upserts", testUpserts, upserts},
	{"DoNothingWhereGORMMiscounts", testDoNothingWhereGORMMiscounts, upserts},
	{"ReturningKeepsOthers", testReturningKeepsOthers, upserts},
	{"UpsertOfUnreadableKey", testUpsertOfUnreadableKey, upserts},
	{"UserUpdatesKey", testUserUpdatesKey, upserts},
	{"UpsertMaps", testUpsertMaps, upserts},
	{"ForeignKeysAreNotInvented", testForeignKeysAreNotInvented, inserts},
	{"ForeignKeyKnownLater", testForeignKeyKnownLater, inserts},
	{"ForAssignsForeignKeys", testForAssignsForeignKeys, inserts},
	{"ZeroForeignKey", testZeroForeignKey, inserts},
	{"NoRule", testNoRule, 0},
	{"Associations", testAssociations, inserts},
	{"AssociationsOfSlice", testAssociationsOfSlice, inserts},
	{"AssociationsOfMaps", testAssociationsOfMaps, inserts},
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
	{"PoolOfOneConnection", testPoolOfOneConnection, upserts},
	{"LookUpFails", testLookUpFails, upserts},
	{"CreateMaps", testCreateMaps, 0},
	{"MapSpellings", testMapSpellings, 0},
	{"MixedMaps", testMixedMaps, 0},
	{"TableMaps", testTableMaps, 0},
	{"NilMaps", testNilMaps, 0},
	{"PhantomAssociation", testPhantomAssociation, upserts},
	{"ChildOfSkippedRow", testChildOfSkippedRow, upserts},
	{"AssignedIsOfOneCreate", testAssignedIsOfOneCreate, upserts},
	{"SoftDeleted", testSoftDeleted, upserts},
	{"ManySkipped", testManySkipped, upserts},
	{"LogWithoutParameters", testLogWithoutParameters, upserts},
	{"LoggedLookUp", testLoggedLookUp, upserts},
	{"Statements", testStatements, upserts},
	{"SelectAndOmit", testSelectAndOmit, inserts},
	{"OmitOfAssignedKey", testOmitOfAssignedKey, inserts},
	{"SelectIsNotShared", testSelectIsNotShared, 0},
	{"SelectOnTable", testSelectOnTable, 0},
	{"Traps", testTraps, 0},
	{"Columns", testColumns, 0},
	{"JoinTableColumns", testJoinTableColumns, inserts},
	{"Schemes", testSchemes, inserts},
	{"TranslatedErrors", testTranslatedErrors, inserts},
	{"GrownTable", testGrownTable, 0},
	{"KeyOfAnotherType", testKeyOfAnotherType, 0},
	{"TypeTag", testTypeTag, 0},
	{"TwoGenerators", testTwoGenerators, inserts},
	{"Literals", testLiterals, 0},
	{"NumberedKeys", testNumberedKeys, 0},
	{"KeysOfAnyName", testKeysOfAnyName, 0},
	{"KeysOfOthers", testKeysOfOthers, 0},
	{"Entities", testEntities, 0},
	{"HalfInstalled", testHalfInstalled, 0},
	{"SmallerModel", testSmallerModel, 0},
	{"Dialector", testDialector, 0},
	{"LoggedLines", testLoggedLines, 0},
	{"MovedApp", testMovedApp, inserts},
	{"ZeroInSQL", testZeroInSQL, 0},
	{"NullKeys", testNullKeys, inserts},
	{"ValuesAreNoConditions", testValuesAreNoConditions, 0},
}

// What is the same everywhere, and the ways of one database, is tested in one.
var only = []struct {
	name string
	test func(*testing.T, database)
	kind Kind
}{
	{"ErrorTexts", testErrorTexts, SQLite},
	{"Strict", testStrict, SQLite},
	{"MovedJSON", testMovedJSON, SQLite},
	{"StrictOfLibraries", testStrictOfLibraries, SQLite},
	{"TablesOfIntegers", testTablesOfIntegers, SQLite},
	{"WithoutUse", testWithoutUse, SQLite},
	{"AppendOfKnown", testAppendOfKnown, MariaDB},
	{"BatchInClickHouse", testBatchInClickHouse, ClickHouse},
	{"ZeroInClickHouse", testZeroInClickHouse, ClickHouse},
	{"TrapsInClickHouse", testTrapsInClickHouse, ClickHouse},
	{"ValuesOfTheApp", testValuesOfTheApp, SQLite},
	{"AllocationsPerRow", testAllocationsPerRow, SQLite},
	{"Refusals", testRefusals, SQLite},
	{"RefusalOfRow", testRefusalOfRow, SQLite},
	{"RefusalInSubquery", testRefusalInSubquery, SQLite},
	{"OtherConditionsAreLeftAlone", testOtherConditionsAreLeftAlone, SQLite},
	{"TextsByThemselves", testTextsByThemselves, SQLite},
	{"SQLByItself", testSQLByItself, SQLite},
	{"CausesOfValues", testCausesOfValues, SQLite},
	{"AroundAnID", testAroundAnID, SQLite},
	{"TextsOfPatches", testTextsOfPatches, SQLite},
	{"ErrorsNameTheField", testErrorsNameTheField, SQLite},
	{"OtherKeysAreLeftAlone", testOtherKeysAreLeftAlone, SQLite},
	{"BadRules", testBadRules, SQLite},
	{"SeveralDatabases", testSeveralDatabases, SQLite},
	{"RulesAreImmutable", testRulesAreImmutable, SQLite},
	{"DialectWithoutCallbacks", testDialectWithoutCallbacks, SQLite},
	{"RefusedModels", testRefusedModels, SQLite},
	{"ModelsOfTheSameForm", testModelsOfTheSameForm, SQLite},
	{"RefusedRelationOfAnother", testRefusedRelationOfAnother, SQLite},
	{"OmitOfSetKey", testOmitOfSetKey, SQLite},
	{"AutoMigrate", testAutoMigrate, SQLite},
	{"IntegerKeyinSQLite", testIntegerKeyInSQLite, SQLite},
	{"Told", testTold, SQLite},
	{"OneID", testOneID, SQLite},
	{"UpsertOnKey", testUpsertOnKey, SQLite},
}

// testAll runs the tests that apply to the database.
func (d database) testAll(t *testing.T) {
	has := upserts
	if d.Kind == ClickHouse {
		has = 0 // neither unique keys nor transactions, and GORM's driver makes one insert of each
	}
	d.run(t, 0, has)
	for _, test := range only {
		if test.kind == d.Kind {
			t.Run(test.name, func(t *testing.T) {
				if test.name != "AllocationsPerRow" { // which are counted while nothing else runs
					t.Parallel()
				}
				test.test(t, d)
			})
		}
	}
}

// run runs the tests that need from to upserts, and says how many there are.
func (d database) run(t *testing.T, from, to need) {
	ran := 0
	for _, test := range suite {
		if from <= test.needs && test.needs <= to {
			ran++
			t.Run(test.name, func(t *testing.T) {
				t.Parallel()
				test.test(t, d)
			})
		}
	}
	t.Logf("%d of %d tests apply", ran, len(suite))
}
