package orms

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/idmint/idmint/cqlid"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
)

// inCassandra opens a session in a keyspace of the test's own.
func inCassandra(t *testing.T) *gocql.Session {
	t.Helper()
	d := dbtest.New(t, databases.Cassandra)
	host, port, err := net.SplitHostPort(d.Nodes()[0])
	try(t, err)
	config := gocql.NewCluster(host)
	config.Port, err = strconv.Atoi(port)
	try(t, err)
	config.DisableInitialHostLookup = true
	config.NumConns = 1
	keyspace := strings.TrimPrefix(d.Prefix(), "/")
	first, err := config.CreateSession()
	try(t, err)
	defer first.Close()
	try(t, first.Query("CREATE KEYSPACE IF NOT EXISTS "+keyspace+
		" WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}").Exec())
	config.Keyspace = keyspace
	session, err := config.CreateSession()
	try(t, err)
	t.Cleanup(session.Close)
	return session
}

// IDs of each form are keys, clustering columns, elements of lists, and NULL, in Cassandra.
func TestCassandraColumns(t *testing.T) {
	t.Parallel()
	session := inCassandra(t)
	testCassandraColumn(t, session, "decimal", "bigint", "blob", idtype.MustParse[idtype.DecimalID])
	testCassandraColumn(t, session, "short", "bigint", "text", idtype.MustParse[idtype.ShortID])
	testCassandraColumn(t, session, "eightbyte", "blob", "bigint", idtype.MustParse[idtype.EightByteID])
	testCassandraColumn(t, session, "eightbyte", "bigint", "int",
		idtype.MustParse[idtype.EightByte[idtype.AsBigint[any]]])
	testCassandraColumn(t, session, "sno", "blob", "uuid", idtype.MustParse[idtype.SnoID])
	testCassandraColumn(t, session, "sno", "text", "blob", idtype.MustParse[idtype.Sno[idtype.AsText[any]]])
	testCassandraColumn(t, session, "sno", "uuid", "timeuuid",
		idtype.MustParse[idtype.Sno[idtype.AsUUID[any]]])
}

func testCassandraColumn[T idtype.ID](
	t *testing.T, session *gocql.Session, scheme, column, other string, parse func(string) T,
) {
	table := scheme + "_" + column
	t.Run(table, func(t *testing.T) {
		try(t, session.Query(fmt.Sprintf("CREATE TABLE %s (shard int, id %s, ref %s, refs list<%s>, "+
			"wrong %s, PRIMARY KEY (shard, id))", table, column, column, column, other)).Exec())
		insert := "INSERT INTO " + table + " (shard, id, ref, refs) VALUES (1, ?, ?, ?)"
		var ids []T
		for _, text := range texts[scheme] {
			ids = append(ids, parse(text))
		}
		list := []cqlid.Field[T]{cqlid.Of(ids[2]), cqlid.Of(ids[0])}
		try(t, session.Query(insert, cqlid.Of(ids[1]), cqlid.Of(ids[0]), list).Exec())
		none := (*cqlid.Field[T])(nil)
		for _, id := range []T{ids[2], ids[0]} {
			try(t, session.Query(insert, cqlid.Of(id), none, nil).Exec())
		}

		iter := session.Query("SELECT id, ref, refs FROM " + table + " WHERE shard = 1").Iter()
		var id cqlid.Field[T]
		var ref *cqlid.Field[T]
		var refs []cqlid.Field[T]
		for i := 0; iter.Scan(&id, &ref, &refs); i++ {
			if id.ID != ids[i] || (ref != nil) != (i == 1) || i == 1 &&
				(ref.ID != ids[0] || len(refs) != 2 || refs[0] != list[0] || refs[1] != list[1]) {
				t.Errorf("row %d: %v, %v, %v", i, id, ref, refs)
			}
			refs = nil
		}
		try(t, iter.Close())
		if id.ID != ids[2] {
			t.Errorf("the last row is %v", id)
		}
		where := " FROM " + table + " WHERE shard = 1 AND id = ?"
		try(t, session.Query("SELECT id"+where, cqlid.Of(ids[0])).Scan(&id))

		// The rules for zero and NULL, and columns of another type.
		var zero cqlid.Field[T]
		if err := session.Query(insert, zero, none, nil).Exec(); !errors.Is(err, idtype.ErrZero) {
			t.Errorf("zero: %v", err)
		}
		err := session.Query("SELECT ref"+where, cqlid.Of(ids[0])).Scan(&id)
		if !errors.Is(err, idtype.ErrNull) || id.ID != ids[0] {
			t.Errorf("NULL: %v, %v", id, err)
		}
		var wrong *cqlid.ColumnError
		err = session.Query("UPDATE "+table+" SET wrong = ? WHERE shard = 1 AND id = ?", cqlid.Of(ids[0]),
			cqlid.Of(ids[0])).Exec()
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), "want a "+column) {
			t.Errorf("a column of type %s: %v", other, err)
		}
		if err = session.Query("SELECT wrong"+where, cqlid.Of(ids[0])).Scan(&id); !errors.As(err, &wrong) {
			t.Errorf("a column of type %s is read: %v, %v", other, id, err)
		}
	})
}
