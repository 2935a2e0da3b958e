package clickhouse

import (
	"fmt"
	"strings"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/google/uuid"

	"github.com/idmint/idmint/idtype"
)

// A Parameter is the text of a value for a bound parameter, {name:Type}, of clickhouse-go's native and HTTP protocols. clickhouse-go
// sends what String returns; of an ID itself that is its text, which is what a column holds for few of them.
type Parameter struct{ text string }

// String is the value as the server reads it.
func (p Parameter) String() string { return p.text }

// notAssigned is no value of any type that a column of IDs has: the server refuses it, and quotes it.
const notAssigned = "zero means not assigned"

// Param is an ID as a bound parameter of the type that [Column.Type] says:
//
//	conn.Query(ctx, "SELECT name FROM users WHERE id = {id:Int64}", ch.Named("id", clickhouse.Param(id)))
//
// As the value of a parameter cannot fail in clickhouse-go, zero becomes a text that the server refuses for every such type.
func Param[T idtype.ID](id T) Parameter {
	if id.IsZero() {
		return Parameter{notAssigned}
	}
	return ParamOrZero(id)
}

// ParamOrZero is [Param] for a column in which zero means "none": see [idtype.OrZero].
func ParamOrZero[T idtype.ID](id T) Parameter {
	var b strings.Builder
	writeParam(&b, id, false)
	return Parameter{b.String()}
}

// ParamArray is a list of IDs as a bound parameter of type Array(…):
//
//	conn.Query(ctx, "SELECT name FROM users WHERE id IN {ids:Array(Int64)}", ch.Named("ids", clickhouse.ParamArray(ids)))
//
// Without IDs it is the empty array, in which is no row. A zero among them is refused by the server.
func ParamArray[T idtype.ID](ids []T) Parameter {
	if firstBad(ids, zeroFails) >= 0 {
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

// writeParam writes an ID, in quotes within arrays where it is no number.
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
		if !id.IsZero() {
			text = id.String()
		}
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

// Bound is the parameter for ch-go, as a member of ch.Query's Parameters.
func (p Parameter) Bound(name string) proto.Parameter {
	return proto.Parameter{Key: name, Value: "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(p.text) + "'"}
}
