package generator_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
)

// model is the generator as a sentence: the counters 1 to span of each number in turn, written side
// by side. What it does not know is when the source is asked.
type model struct {
	numbers         []int // the current number first; empty before the first ID
	counter         int   // the last counter minted
	begun           bool
	failing, cancel bool
}

// exhausted says that the next ID takes another number.
func (m *model) exhausted() bool { return !m.begun || m.counter == span }

func (m *model) next() idtype.DecimalID {
	if m.exhausted() {
		if m.begun {
			m.numbers = m.numbers[1:]
		}
		m.begun, m.counter = true, 0
	}
	m.counter++
	return idtype.MustParseDecimalID(fmt.Sprintf("%d%05d%05d", m.counter, m.numbers[0], launch))
}

// take is the next at most n IDs of one number, which is what an owned generator may have for
// itself.
func (m *model) take(n int) (ids []idtype.DecimalID) {
	for len(ids) < n && (len(ids) == 0 || !m.exhausted()) {
		ids = append(ids, m.next())
	}
	return ids
}

// op is one call of the generator, or a change of the world.
type op struct {
	kind string
	n    int
}

// TestModel makes any sequence of calls, near the look-ahead and the end as often as elsewhere. Now
// and then the source fails or callers are gone. The IDs are the model's, without a gap and without
// a repeat. A call fails only where the model has no number to go on with.
func TestModel(t *testing.T) {
	kinds := []string{
		"Next", "Next", "Fill", "Fill", "Owned", "Owned", "skip", "skip",
		"fail", "heal", "heal", "cancel", "uncancel", "uncancel", "uncancel",
	}
	rapid.Check(t, func(rt *rapid.T) {
		first := rapid.IntRange(0, 99_999).Draw(rt, "first number")
		numbers := make([]int, 100) // more than the ops can use up, all different
		for i := range numbers {
			numbers[i] = (first + 7919*i) % 100_000
		}
		ops := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) op {
			return op{rapid.SampledFrom(kinds).Draw(t, "kind"), rapid.IntRange(1, 12).Draw(t, "n")}
		}), 50, 150).Draw(rt, "ops")
		block := rapid.IntRange(1, 9).Draw(rt, "block")
		// The bubble is a goroutine of its own, in which rapid cannot fail: it returns what is
		// wrong.
		var wrong error
		synctest.Test(t, func(*testing.T) { wrong = runModel(numbers, ops, block) })
		if wrong != nil {
			rt.Fatal(wrong)
		}
	})
}

func runModel(numbers []int, ops []op, block int) error {
	src := newSource(numbers...)
	g, err := generator.NewDecimal(src)
	if err != nil {
		return err
	}
	m := &model{numbers: numbers}
	o := g.Owned(block)
	var own []idtype.DecimalID // the rest of o's block
	for i, op := range ops {
		synctest.Wait() // a request in the background has ended
		c := ctx
		if m.cancel {
			c = canceled
		}
		var got, want []idtype.DecimalID
		var err error
		switch op.kind {
		case "Next":
			var id idtype.DecimalID
			if id, err = g.Next(c); err == nil {
				got, want = append(got, id), m.take(1)
			}
		case "Fill":
			var n int
			got = make([]idtype.DecimalID, op.n)
			n, err = g.Fill(c, got)
			got = got[:n]
			for range n {
				want = append(want, m.next())
			}
			if err == nil && n != op.n {
				return fmt.Errorf("op %d: Fill of %d gave %d and no error", i, op.n, n)
			}
		case "Owned":
			empty := len(own) == 0
			var id idtype.DecimalID
			if id, err = o.Next(c); err == nil {
				if empty {
					own = m.take(block)
				}
				got, want, own = append(got, id), own[:1], own[1:]
			} else if !empty {
				return fmt.Errorf("op %d: %v with %d IDs of the block left", i, err, len(own))
			}
		case "skip":
			if m.begun && m.counter < span {
				marks := []int{
					span / 2, span / 10 * 9, span / 100 * 91, span / 100 * 95, span - 5, span,
				}
				m.counter = max(m.counter, marks[op.n%len(marks)])
				g.SkipTo(m.counter)
			}
		case "fail":
			m.failing = true
			src.fail(errAway)
		case "heal":
			m.failing = false
			src.fail(nil)
		case "cancel":
			m.cancel = true
		case "uncancel":
			m.cancel = false
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			return fmt.Errorf("op %d, %+v: minted %v, want %v", i, op, got, want)
		}
		if err == nil {
			continue
		}
		switch e := new(generator.NumberError); {
		case !errors.As(err, &e):
			return fmt.Errorf("op %d, %+v: error is %#v, want a *NumberError", i, op, err)
		case !m.exhausted():
			return fmt.Errorf("op %d, %+v: %v with counters left", i, op, err)
		case m.cancel && errors.Is(err, context.Canceled), !m.cancel && m.failing &&
			errors.Is(err, errAway):
		default:
			return fmt.Errorf("op %d, %+v: %v, with canceled %v, failing %v", i, op, err, m.cancel,
				m.failing)
		}
	}
	return nil
}
