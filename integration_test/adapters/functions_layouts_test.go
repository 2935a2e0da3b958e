package adapters_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/mattn/go-sqlite3"

	"github.com/idmint/idmint/integration_test/dbtest"

	"github.com/idmint/idmint/clickhouse"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/sqlid"
	"github.com/idmint/idmint/sqlid/functions"
	"github.com/idmint/idmint/sqlid/pgxid/pgxsuite"
)

// items is a layout of one's own, whose IDs are exact in JavaScript.
type items struct{}

func (items) Layout() *idtype.SnowflakeLayout { return itemsLayout }

var itemsLayout = idtype.MustSnowflakeLayout(idtype.SnowflakeBits{
	Epoch: 1672531200000, Node: 3, Step: 8,
})

// sqlLayouts: one with a text, one of a longer unit and the step first, one's own of fewer bits.
var sqlLayouts = []functions.Layout{
	functions.Snowflakes[idtype.TSID]("tsid"), functions.Snowflakes[items]("items"),
	functions.Snowflakes[idtype.SonyflakeV2]("sony"),
}

func layoutQuestions(t *testing.T) (all []question) {
	all = append(all, questionsIn[idtype.TSID](t, "tsid")...)
	all = append(all, questionsIn[items](t, "items")...)
	return append(all, questionsIn[idtype.SonyflakeV2](t, "sony")...)
}

func questionsIn[L idtype.Snowflakes](t *testing.T, name string) (all []question) {
	var layout L
	l := layout.Layout()
	ask := func(of string, kind resultKind, want any, a arg) {
		all = append(all, question{"idmint_" + name + "_" + of, []arg{a}, kind, want})
	}
	for _, id := range []int64{1, 5555555555555, l.Most(), 0, -1, l.Most()/2 + 12345} {
		p, number := l.Parts(id), arg{"number", fmt.Sprint(id)}
		if id <= 0 {
			ask("time", asTime, nil, number)
			ask("node", asPlain, nil, number)
			ask("step", asPlain, nil, number)
			continue
		}
		ask("time", asTime, time.UnixMilli(p.UnixMs), number)
		ask("node", asPlain, p.Node, number)
		ask("step", asPlain, p.Step, number)
	}
	if l.Most() < 1<<62 {
		ask("node", asPlain, nil, arg{"number", fmt.Sprint(l.Most() + 1)})
	}
	at := time.UnixMilli(l.Bits().Epoch + 987654321).UTC()
	r, err := l.Bounds(at, at)
	try(t, err)
	ask("min", asPlain, r.Min, argTime(at))
	ask("max", asPlain, r.Max, argTime(at))
	ask("min", asPlain, 1, argTime(time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC)))
	ask("min", asPlain, nil, argNull)
	return all
}

// TestFunctionsOfLayouts: functions of a layout are made as those of a scheme, and agree with Go.
func TestFunctionsOfLayouts(t *testing.T) {
	t.Parallel()
	sql.Register("sqlite3_layouts", &sqlite3.SQLiteDriver{
		ConnectHook: func(c *sqlite3.SQLiteConn) error { return functions.Register(c, sqlLayouts...) },
	})
	functionDialects["sqlite"].answers(t, dbtest.OpenSource(t, "sqlite3_layouts", ":memory:"),
		layoutQuestions(t))
	for d, kind := range functionServers {
		t.Run(string(d), func(t *testing.T) {
			db := dbtest.Open(t, dbtest.New(t, kind))
			try(t, functions.Install(context.Background(), db, d, sqlLayouts...))
			functionDialects[d].answers(t, db, layoutQuestions(t))
		})
	}
	for _, name := range []string{"", "sno", "snowflake", "tsid", "Items", "a'b", "7"} {
		all := append(sqlLayouts[:1:1], functions.Snowflakes[items](name))
		var e *functions.NameError
		if s, err := functions.Statements(functions.Postgres, all...); !errors.As(err, &e) || s != nil {
			t.Errorf("%q: %d statements, %v", name, len(s), err)
		}
	}
}

// What asks for a scheme asks for the layout too: the check of a column, and the IDs of a span.
func TestLayoutOfKeys(t *testing.T) {
	type (
		itemID = idtype.SnowflakeIn[pgxsuite.User, items]
		tsid   = idtype.SnowflakeIn[pgxsuite.User, idtype.TSID]
	)
	check, err := sqlid.Column[itemID]{Name: "id"}.Check(sqlid.Postgres)
	if want := `"id" BETWEEN 1 AND 4503599627370495`; err != nil || check != want {
		t.Errorf("the check is %s, %v, want %s", check, err, want)
	}
	at := time.UnixMilli(1671731597038)
	span, err := clickhouse.Column[tsid]{Name: "id"}.Between(at, at)
	if want := "`id` BETWEEN 393823322795671552 AND 393823322799865855"; err != nil || span != want {
		t.Errorf("the span is %s, %v, want %s", span, err, want)
	}
	if _, err := (clickhouse.Column[tsid]{Name: "id"}).Between(at, at.Add(-1)); err == nil {
		t.Error("a span ends before it begins")
	}
	if codec := (clickhouse.Column[tsid]{Name: "id"}).PrimaryKey().Codec; codec !=
		(clickhouse.Column[idtype.SnowflakeID]{Name: "id"}).PrimaryKey().Codec {
		t.Errorf("the codec is %s", codec)
	}
}
