package clickhouse_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/clickhouse"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/chsuite"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// The conditions, and why there is none.
func TestBetween(t *testing.T) {
	day := func(y int, m time.Month, d int) time.Time {
		return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	}
	wrap := time.Unix(60<<25, 0) // where timestamps of trace IDs begin again
	turn := time.UnixMilli(1 << 41)
	ms := time.Millisecond
	for _, c := range []struct {
		name    string
		between func(from, to time.Time) (string, error)
		from    time.Time
		to      time.Time
		want    string
	}{
		{
			"trace", clickhouse.Column[chsuite.TraceKey]{Name: "id"}.Between, wrap, wrap,
			"`id` BETWEEN 1 AND 274877906943",
		},
		{
			"trace, two", clickhouse.Column[chsuite.TraceKey]{Name: "id"}.Between,
			wrap.Add(-time.Second), wrap,
			"(`id` BETWEEN 9223371761976868865 AND 9223372036854775807 OR `id` BETWEEN 1 AND " +
				"274877906943)",
		},
		{
			"short", clickhouse.Column[chsuite.ShortKey]{Name: "a`b"}.Between, day(2018, 3, 1),
			day(2018, 3, 1).Add(ms), "`a\\`b` BETWEEN 1 AND 524287",
		},
		{
			"eightbyte", clickhouse.Column[chsuite.EightKey]{Name: "id"}.Between, turn.Add(-ms),
			turn,
			"`id` BETWEEN toFixedString(unhex('7fffffffffc01000'), 8) AND " +
				"toFixedString(unhex('80000000003fffff'), 8)",
		},
		{
			"eightbyte as bigint", clickhouse.Column[chsuite.EightIntKey]{Name: "id"}.Between,
			turn.Add(-ms), turn,
			"(`id` BETWEEN 9223372036850585600 AND 9223372036854775807 OR `id` BETWEEN " +
				"-9223372036854775808 AND -9223372036850581505)",
		},
		{
			"sno", clickhouse.Column[chsuite.SnoKey]{Name: "id"}.Between, day(2010, 1, 2),
			day(2010, 1, 2),
			"`id` BETWEEN toFixedString(unhex('0002932e000000000000'), 10) AND " +
				"toFixedString(unhex('0002932e01ffffffffff'), 10)",
		},
		{
			"sno as text", clickhouse.Column[chsuite.SnoTextKey]{Name: "id"}.Between,
			day(2010, 1, 2), day(2010, 1, 2),
			"`id` BETWEEN '223b8di222222222' AND '223b8di3xxxxxxxx'",
		},
	} {
		got, err := c.between(c.from, c.to)
		if err != nil || got != c.want {
			t.Errorf("%s: %s, %v\nwant %s", c.name, got, err, c.want)
		}
		_, err = c.between(c.to.Add(time.Second), c.from)
		if inverted := new(idtype.InputError); !errors.As(err, &inverted) {
			t.Errorf("%s, inverted: %v", c.name, err)
		}
		_, err = c.between(day(1800, 1, 1), day(1800, 1, 1))
		var outside *idtype.RangeError
		if !strings.HasPrefix(c.name, "trace") && !errors.As(err, &outside) {
			t.Errorf("%s, in 1800: %v", c.name, err)
		}
	}
	for name, between := range map[string]func(from, to time.Time) (string, error){
		"decimal":     clickhouse.Column[chsuite.DecimalKey]{}.Between,
		"sequence":    clickhouse.Column[chsuite.SequenceKey]{}.Between,
		"spread":      clickhouse.Column[chsuite.EightKey]{Spread: true}.Between,
		"sno as UUID": clickhouse.Column[chsuite.SnoUUIDKey]{}.Between,
	} {
		var none *clickhouse.TimeError
		if got, err := between(noon, noon); !errors.As(err, &none) || got != "" || none.Err == nil {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
}
