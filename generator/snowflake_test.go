package generator_test

import (
	"errors"
	"testing"
	"time"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
)

type small struct{}

var smallLayout = idtype.MustSnowflakeLayout(idtype.SnowflakeBits{
	Epoch: 1672531200000, Node: 3, Step: 8,
})

func (small) Layout() *idtype.SnowflakeLayout { return smallLayout }

// Layouts of which a word is the ID without its node, of which it is not, and of a long unit.
var (
	_ = addSnowflakes[idtype.Twitter]("snowflake", 8)
	_ = addSnowflakes[idtype.SonyflakeV2]("sonyflake", 1)
	_ = addSnowflakes[small]("small snowflake", 8)
)

func addSnowflakes[L idtype.Snowflakes](name string, lag int) scheme {
	l := idtype.SnowflakeIn[any, L](0).Layout()
	b, last := l.Bits(), l.Parts(l.Most())
	return add(scheme{
		name: name, id: idtype.SchemeSnowflake, typ: "SnowflakeID", unit: b.Unit,
		begin: time.UnixMilli(b.Epoch), end: time.UnixMilli(last.UnixMs).Add(b.Unit),
		last: last.Step, lag: lag, numbers: last.Node + 1, part: "node", ascends: true,
		make: func(w windows, o *generator.Options) (*timed, error) {
			g, err := generator.NewSnowflakeIn[L](numbered(w, func(n int) int { return n }), o)
			if err != nil {
				return nil, err
			}
			return adapt(g, func(id idtype.SnowflakeIn[any, L]) mark {
				back, err := l.ID(id.Parts())
				intact(id)(idtype.SnowflakeIn[any, L](back), err)
				return mark{id.Node(), id.Time().UnixNano(), 0, id.Step()}
			}), nil
		},
		zero: adapt[idtype.SnowflakeIn[any, L]](new(generator.SnowflakeIn[L]), nil),
	})
}

// A key of another layout would get an ID of another time.
func TestSnowflakeLayouts(t *testing.T) {
	g := made(generator.NewSnowflake(generator.Given(7), nil))
	if _, err := generator.For[idtype.Snowflake[account]](g); err != nil {
		t.Error(err)
	}
	_, err := generator.For[idtype.SnowflakeIn[account, idtype.TSID]](g)
	var e *generator.OptionError
	if !errors.As(err, &e) || e.Option != "key" {
		t.Errorf("keys of TSID are minted: %v", err)
	}
	if _, err := generator.NewSnowflakeIn[steps](generator.Given(0), nil); !errors.As(err, &e) {
		t.Errorf("22 bits of step leave no room in a word: %v", err)
	}
	// A layout of long units ends when nanoseconds do.
	if _, err := generator.NewSnowflakeIn[long](generator.Given(1), nil); err != nil {
		t.Error(err)
	}
}

type (
	steps struct{}
	long  struct{}
)

var (
	stepsLayout = idtype.MustSnowflakeLayout(idtype.SnowflakeBits{Step: 22})
	longLayout  = idtype.MustSnowflakeLayout(idtype.SnowflakeBits{Unit: time.Second, Node: 1})
)

func (steps) Layout() *idtype.SnowflakeLayout { return stepsLayout }
func (long) Layout() *idtype.SnowflakeLayout  { return longLayout }
