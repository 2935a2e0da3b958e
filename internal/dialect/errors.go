package dialect

import (
	"errors"
	"net"
	"reflect"
	"strconv"
	"strings"
)

// A Cause is why a database refused or aborted a request.
type Cause int

// The causes, of which all except Other, Absent, Guarded and Away mean that nothing was changed.
const (
	// Other is an error that will recur, as far as this package knows.
	Other Cause = iota
	// Contended: the transaction conflicted with another one, and was rolled back.
	Contended
	// Crowded: the server accepts no more requests for now, or not yet.
	Crowded
	// CutOff: a time limit or an operator ended the statement or the transaction.
	CutOff
	// Away: the server or the connection ended, although a commit that was sent may have succeeded.
	Away
	// ReadOnly: the server is read-only, but during a failover another one may soon take its place.
	ReadOnly
	// Absent: the table, or a column in it, does not exist.
	Absent
	// Guarded: a trigger of the launch log, which has none in MySQL, protects what was used.
	Guarded
)

// Passes reports whether the same request may succeed a little later.
func (c Cause) Passes() bool { return c == Contended || c == Crowded || c == Away }

// CauseOfCode returns the cause for an error code of the dialect. A code is an SQLSTATE of
// PostgreSQL, an error number of MySQL, or a result code of SQLite.
func CauseOfCode(d Dialect, code string) Cause {
	if read := known[d].codes; read != nil {
		return read(code)
	}
	return Other
}

func postgresCause(state string) Cause {
	switch state {
	case "40001", // serialization_failure
		"40P01", // deadlock_detected
		"55P03": // lock_not_available
		return Contended
	case "53000", "53200", "53300": // insufficient_resources, out_of_memory, too_many_connections
		return Crowded
	case "57014", // query_canceled, by statement_timeout or an operator
		"25P03", "25P04": // idle_in_transaction_session_timeout, transaction_timeout
		return CutOff
	case "40003": // statement_completion_unknown
		return Away
	case "25006": // read_only_sql_transaction
		return ReadOnly
	case "57P04": // database_dropped, which waiting does not undo
		return Other
	case "42P01", "42703": // undefined_table, undefined_column
		return Absent
	case "23000": // integrity_constraint_violation, which the migrations' idmint_refuse raises
		return Guarded
	}
	// Class 08 is about the connection, the rest of 57P about the server.
	if strings.HasPrefix(state, "08") || strings.HasPrefix(state, "57P") {
		return Away
	}
	return Other
}

func mysqlCause(number string) Cause {
	switch number {
	case "1213", "1205", "1020": // deadlock, lock wait timeout, the record has changed
		return Contended
	case "1040", "1203", "1226", // too many connections
		"1047": // a Galera node that is not ready
		return Crowded
	case "1317", "1028", "1969", "3024": // the statement was interrupted, or took too long
		return CutOff
	case "1053", "1077", "1079", "1927", // server shutdown, or the connection was killed
		"1158", "1159", "1160", "1161", "4031": // the network, or the connection was idle too long
		return Away
	case "1290", "1792", "1836": // read_only, a read-only transaction, read_only while it changes
		return ReadOnly
	case "1146", "1054": // no such table, unknown column
		return Absent
	}
	return Other
}

func sqliteCause(code string) Cause {
	n, _ := strconv.Atoi(code)
	if n == 1811 { // SQLITE_CONSTRAINT_TRIGGER
		return Guarded
	}
	switch n & 0xff { // the rest of an extended code is not needed
	case 5, 6, 15: // SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL
		return Contended
	case 8: // SQLITE_READONLY
		return ReadOnly
	}
	return Other
}

// CauseOf returns the cause of a driver's error, and the dialect of its code. For an error without
// a code it returns Other and the dialect "".
//
// PostgreSQL's drivers have the method SQLState, and modernc's driver of SQLite has Code. MySQL's
// driver has a field Number, go-sqlite3 a field ExtendedCode, and ncruces' driver a method of that
// name. CauseOf reads these by reflection, because naming their types would require importing them.
func CauseOf(err error) (Dialect, Cause) {
	var state interface{ SQLState() string }
	if errors.As(err, &state) {
		return Postgres, CauseOfCode(Postgres, state.SQLState())
	}
	var result interface{ Code() int }
	if errors.As(err, &result) {
		return SQLite, CauseOfCode(SQLite, strconv.Itoa(result.Code()))
	}
	if number := MySQLNumber(err); number != "" {
		return MySQL, CauseOfCode(MySQL, number)
	}
	if code, ok := find(err, "ExtendedCode"); ok {
		if code == "0" {
			code, _ = find(err, "Code")
		}
		return SQLite, CauseOfCode(SQLite, code)
	}
	return "", Other
}

// MySQLNumber returns the number of a MySQL error, as digits, or "" for another error.
func MySQLNumber(err error) string {
	number, _ := find(err, "Number")
	return number
}

// UnknownHost reports whether an error says that the server's name is unknown, which is not
// temporary.
func UnknownHost(err error) bool {
	var name *net.DNSError
	return errors.As(err, &name) && name.IsNotFound
}

// find searches err's tree for an error that has a method or a field of this name, which must be an
// integer. It returns the integer's digits.
func find(err error, name string) (string, bool) {
	for err != nil {
		if digits, ok := integer(reflect.ValueOf(err), name); ok {
			return digits, true
		}
		if many, ok := err.(interface{ Unwrap() []error }); ok {
			for _, one := range many.Unwrap() {
				if digits, ok := find(one, name); ok {
					return digits, true
				}
			}
		}
		err = errors.Unwrap(err)
	}
	return "", false
}

// integer reads v's method without arguments, or otherwise its field.
func integer(v reflect.Value, name string) (string, bool) {
	var found, m reflect.Value
	if name == "ExtendedCode" { // a constant: a variable would make the linker keep all methods
		m = v.MethodByName("ExtendedCode")
	}
	if m.IsValid() {
		if t := m.Type(); t.NumIn() == 0 && t.NumOut() == 1 && isInteger(t.Out(0)) &&
			!(v.Kind() == reflect.Pointer && v.IsNil()) {
			found = m.Call(nil)[0]
		}
	} else if v = reflect.Indirect(v); v.Kind() == reflect.Struct {
		if f, ok := v.Type().FieldByName(name); ok && isInteger(f.Type) {
			found, _ = v.FieldByIndexErr(f.Index) // an error for a field of an embedded nil pointer
		}
	}
	switch {
	case !found.IsValid():
		return "", false
	case found.CanInt():
		return strconv.FormatInt(found.Int(), 10), true
	}
	return strconv.FormatUint(found.Uint(), 10), true
}

func isInteger(t reflect.Type) bool {
	return t.Kind() >= reflect.Int && t.Kind() <= reflect.Uint64
}
