package clickhouse

import (
	"fmt"
	"strings"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/google/uuid"

	"github.com/idmint/idmint/idtype"
)

// A Parameter is the text of a value for a bound parameter, {name:Type}, in clickhouse-go's native
// and HTTP protocols. clickhouse-go sends what String returns, and an ID's own String returns its
// text, which few columns store.
type Parameter struct{ text string }

// String returns the value in the form that the server reads.
func (p Parameter) String() string { return p.text }

// notAssigned is not a value of any type of a column of IDs, so that the server rejects it, and
// quotes it.
const notAssigned = "zero means not assigned"

// Param returns an ID as a bound parameter of the type that [Column.Type] returns:
//
//	query := "SELECT name FROM users WHERE id = {id:Int64}"
//	rows, err := conn.Query(ctx, query, ch.Named("id", clickhouse.Param(id)))
//
// Zero becomes a text that the server rejects for every such type, because clickhouse-go cannot
// report an error for a parameter's value. For "none" use a placeholder and [idtype.OrZero], or IS
// NULL.
func Param[T idtype.ID](id T) Parameter {
	if id.IsZero() {
		return Parameter{notAssigned}
	}
	var b strings.Builder
	writeParam(&b, id, false)
	return Parameter{b.String()}
}

// ParamArray returns a list of IDs as a bound parameter of type Array(…):
//
//	query := "SELECT name FROM users WHERE id IN {ids:Array(Int64)}"
//	rows, err := conn.Query(ctx, query, ch.Named("ids", clickhouse.ParamArray(ids)))
//
// Without IDs the parameter is the empty array, which matches no row, whereas the server rejects a
// list that contains a zero.
func ParamArray[T idtype.ID](ids []T) Parameter {
	if firstBad(ids, noNone) >= 0 {
		return Parameter{notAssigned}
	}
	var b strings.Builder
	b.WriteByte('[')
	for i, id := range ids {
		if i > 0 {
			b.WriteByte(',')
		}
		writeParam(&b, id, true)
	}
	b.WriteByte(']')
	return Parameter{b.String()}
}

// writeParam writes an ID, in quotes if it is in an array and not a number.
func writeParam[T idtype.ID](b *strings.Builder, id T, nested bool) {
	f := formOf[T]()
	var text string
	switch {
	case f.storage == idtype.StorageBigint:
		var buf buffer[T]
		fmt.Fprint(b, buf.values([]T{id}, false).([]int64)[0])
		return
	case f.storage == idtype.StorageUUID:
		text = uuid.UUID(appendText(nil, id)).String()
	case f.storage == idtype.StorageText:
		text = id.String()
	default:
		for _, c := range rawBytes([]T{id}) {
			text += fmt.Sprintf(`\x%02x`, c)
		}
	}
	if nested {
		text = "'" + text + "'"
	}
	b.WriteString(text)
}

// Bound returns the parameter for ch-go, as an element of ch.Query's Parameters.
func (p Parameter) Bound(name string) proto.Parameter {
	quoted := "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(p.text) + "'"
	return proto.Parameter{Key: name, Value: quoted}
}
