package clickhouse_test

import (
	"errors"
	"testing"
	"time"

	"github.com/idmint/idmint/clickhouse"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/chsuite"
)

// full is a column of a batch that refuses what it is given.
type full struct{}

func (full) Append(any) error { return errors.New("converting []int64 to String is unsupported") }

// An error says which value of which type is wrong, and what to do.
func TestErrorTexts(t *testing.T) {
	const hint = `: set it, or use OrZero or OrNull for "none"`
	ids := []UserID{100_000, 0}
	_, zero := ids[1].Value()
	negative := new(UserID).Scan(int64(-5))
	upper := new(chsuite.SnoTextKey).UnmarshalText([]byte("brpk4q72xwf2m63L"))
	noValue := func(_ any, err error) error { return err }
	var array clickhouse.Array[UserID]
	var numbers clickhouse.Map[idtype.DecimalID, int]
	var texts clickhouse.Col[chsuite.SnoTextKey]
	for want, err := range map[string]error{
		"clickhouse: row 1 of idtype.Decimal[clickhouse_test.User]: " +
			zero.Error() + hint: clickhouse.Append(full{}, ids),
		"clickhouse: cannot append IDs of type idtype.Decimal[clickhouse_test.User] to a column of " +
			"type Int64: " +
			"check the batch's order of columns and the table: " +
			"converting []int64 to String is unsupported": clickhouse.Append(full{}, ids[:1]),
		"clickhouse: row 0 of idtype.Sno[idtype.AsText[chsuite.User]]: " +
			upper.Error(): texts.DecodeColumn(reader([]byte("brpk4q72xwf2m63L")), 1),
		"clickhouse: element 1 of clickhouse.Array[idtype.Decimal[clickhouse_test.User]] as " +
			"idtype.Decimal[clickhouse_test.User]: " + zero.Error() +
			hint: noValue(clickhouse.Array[UserID](ids).Elements()),
		"clickhouse: element 0 of []int64 as idtype.Decimal[clickhouse_test.User]: " +
			negative.Error(): array.Scan([]int64{-5}),
		"clickhouse: string: the driver returns no such value for a column of these IDs: " +
			"check the column and its type": array.Scan("x"),
		"clickhouse: NULL: the driver returns no such value for a column of these IDs: " +
			"check the column and its type": numbers.Scan(nil),
		"clickhouse: map[int64]string: the map's values are not int: " +
			"declare Map with the type that the driver uses " +
			"for them": numbers.Scan(map[int64]string{7: "x"}),
		"clickhouse: no condition by time for decimal IDs stored as bigint: " +
			"the IDs carry no time": noValue(
			clickhouse.Column[UserID]{Name: "id"}.Between(time.Now(), time.Now())),
		"clickhouse: no condition by time for sno IDs stored as uuid: ClickHouse orders UUIDs by " +
			"their second half: store the bytes or the text": noValue(
			clickhouse.Column[chsuite.SnoUUIDKey]{Name: "id"}.Between(time.Now(), time.Now())),
		"clickhouse: no condition by time for eightbyte IDs stored as bytes: " +
			"IDs of mode SPREAD have no order by time": noValue(
			clickhouse.Column[chsuite.EightKey]{Name: "id", Spread: true}.
				Between(time.Now(), time.Now())),
		"clickhouse: table shop.users: the table does not exist: " +
			"name it as TABLE, in the connection's database, " +
			"or as DATABASE.TABLE": &clickhouse.TableError{
			Table: "shop.users", Err: clickhouse.ErrNoTable,
		},
	} {
		if err == nil || err.Error() != want {
			t.Errorf("error %v\nwant  %s", err, want)
		}
	}

	// The key of a map has no place: maps have no order.
	_, err := clickhouse.Map[idtype.DecimalID, string]{0: "none"}.Value()
	want := "clickhouse: clickhouse.Map[idtype.DecimalID,string]: " + zero.Error() + hint
	var element *clickhouse.ElementError
	if !errors.As(err, &element) || !errors.Is(err, idtype.ErrZero) || err.Error() != want {
		t.Errorf("error %v\nwant  %s", err, want)
	}
}

// Zero goes in only where a None says how. A negative number is never an ID, nor none.
func TestNone(t *testing.T) {
	for _, none := range []clickhouse.None{0, clickhouse.OrZero, clickhouse.OrNull} {
		for id, fits := range map[UserID]bool{7: true, 0: none != 0, -1: false} {
			ids := []UserID{7, id}
			for _, err := range []error{
				clickhouse.Append(taker{}, ids, none), clickhouse.Col[UserID]{ids, none}.Prepare(),
			} {
				var row *clickhouse.RowError
				if fits != (err == nil) || !fits && (!errors.As(err, &row) || row.Row != 1) {
					t.Errorf("%d with none %d: %v", id, none, err)
				}
			}
		}
	}
}

// taker is a column of a batch that takes all.
type taker struct{}

func (taker) Append(any) error { return nil }
