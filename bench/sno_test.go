package bench

import (
	"bytes"
	"database/sql"
	"encoding"
	"encoding/json"
	"errors"
	"testing"
	"time"

	muyo "github.com/muyo/sno"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/testclock"
)

// The tests of this file show how IDs and generators of muyo/sno ("there") and of idmint ("here") are
// the same, and how they differ: see docs/move/from-sno.md.

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// muyoUnits are units of 4 ms since 2010, as muyo/sno counts.
func muyoUnits(t time.Time) int64 { return (t.UnixNano() - muyo.Epoch*1e9) / muyo.TimeUnit }

func muyoWith(t *testing.T, s muyo.GeneratorSnapshot) *muyo.Generator {
	t.Helper()
	g, err := muyo.NewGenerator(&s, nil)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func wantInput(t *testing.T, err, reason error) {
	t.Helper()
	if !errors.As(err, new(*idtype.InputError)) || reason != nil && !errors.Is(err, reason) {
		t.Errorf("error is %#v, want a *idtype.InputError that wraps %v", err, reason)
	}
}

// TestSnoSameIDs: bytes, text, JSON, order and parts are the same for IDs of either library.
func TestSnoSameIDs(t *testing.T) {
	g := must(generator.NewSno(generator.Given(0x1234), nil)).With(0xa5)
	theirs := newMuyo(0x1234)
	var last muyo.ID
	for range 1000 {
		for _, m := range []muyo.ID{theirs.New(0xa5), muyo.ID(must(g.Next(ctx)))} {
			o := idtype.SnoID(m)
			if o.String() != m.String() || jsonOf(o) != jsonOf(m) ||
				!bytes.Equal(must(o.Value()).([]byte), must(m.Value()).([]byte)) {
				t.Fatalf("%v here, %v there", o, m)
			}
			read := must(idtype.Parse[idtype.SnoID](m.String()))
			if read != o || must(muyo.FromEncodedString(o.String())) != m {
				t.Fatalf("%v is another ID when it is read", m)
			}
			theirs := idtype.SnoParts{
				UnixMs: m.Timestamp() / 1e6, TickTock: int(m[4] & 1), Meta: int(m.Meta()),
				Partition: int(m.Partition().AsUint16()), Sequence: int(m.Sequence()),
			}
			if o.Parts() != theirs || o.Parts().UnixMs*1e6 != m.Timestamp() || !o.Time().Equal(m.Time()) {
				t.Fatalf("%+v here, %+v there", o.Parts(), theirs)
			}
			if idtype.Compare(o, idtype.SnoID(last)) != m.Compare(last) {
				t.Fatalf("%v and %v have another order here", last, m)
			}
			last = m
		}
	}
	if idtype.SnoID(last).Time().Location() != time.UTC || last.Time().Location() != time.Local {
		t.Error("Time is in UTC here, in the local zone there")
	}
}

func jsonOf(v any) string { return string(must(json.Marshal(v))) }

// TestSnoZero: there zero is stored and read, as bytes and as text, and an empty text and NULL
// are read as zero. Here all of these are errors. JSON's null is zero in both.
func TestSnoZero(t *testing.T) {
	const zeroText = "2222222222222222"
	zeroBytes := make([]byte, 10)
	for name, there := range map[string]error{
		"FromBinaryBytes":   errOf(muyo.FromBinaryBytes(zeroBytes)),
		"FromEncodedString": errOf(muyo.FromEncodedString(zeroText)),
		"Value":             errOf(muyo.Zero().Value()),
		"Scan of bytes":     new(muyo.ID).Scan(zeroBytes),
		"Scan of text":      new(muyo.ID).Scan(zeroText),
		"Scan of no text":   new(muyo.ID).Scan(""),
		"Scan of no bytes":  new(muyo.ID).Scan([]byte{}),
		"Scan of NULL":      new(muyo.ID).Scan(nil),
	} {
		if there != nil {
			t.Errorf("%s there: %v", name, there)
		}
	}
	wantInput(t, errOf(idtype.FromBytes[idtype.SnoID](zeroBytes)), idtype.ErrZero)
	wantInput(t, errOf(idtype.Parse[idtype.SnoID](zeroText)), idtype.ErrZero)
	wantInput(t, errOf(idtype.SnoID{}.Value()), idtype.ErrZero)
	wantInput(t, new(idtype.SnoID).Scan(zeroBytes), idtype.ErrZero)
	wantInput(t, new(idtype.SnoID).Scan(zeroText), idtype.ErrZero)
	wantInput(t, new(idtype.SnoID).Scan(""), nil)
	wantInput(t, new(idtype.SnoID).Scan([]byte{}), nil)
	wantInput(t, new(idtype.SnoID).Scan(nil), idtype.ErrNull)
	var null sql.Null[idtype.SnoID]
	if err := null.Scan(nil); err != nil || null.Valid {
		t.Errorf("sql.Null: %v", err)
	}
	for _, id := range []json.Unmarshaler{new(muyo.ID), new(idtype.SnoID)} {
		if err := id.UnmarshalJSON([]byte(`null`)); err != nil {
			t.Errorf("%T of JSON null: %v", id, err)
		}
		if err := id.UnmarshalJSON([]byte(`""`)); err == nil {
			t.Errorf("%T takes an empty JSON string", id)
		}
	}
	if there, here := jsonOf(muyo.Zero()), jsonOf(idtype.SnoID{}); there != "null" ||
		here != "null" {
		t.Errorf("zero as JSON is %s there, %s here", there, here)
	}
}

func errOf[T any](_ T, err error) error { return err }

// TestSnoText: any 16 bytes are read there, as some ID. Here what String does not write is an
// error.
func TestSnoText(t *testing.T) {
	for _, text := range []string{"8FHMI7MFLS62JP64", "8fhmi7mfls62jp6z", "0123456789abcdef"} {
		if id, err := muyo.FromEncodedString(text); err != nil || id.String() == text {
			t.Errorf("%q is %v there, %v", text, id, err)
		}
		wantInput(t, errOf(idtype.Parse[idtype.SnoID](text)), nil)
	}
}

// TestSnoErrors: which error takes the place of which, and what is left in the ID.
func TestSnoErrors(t *testing.T) {
	for _, src := range []any{"123", []byte("123"), 69} {
		theirs, ours := muyo.ID{1}, idtype.SnoID{1}
		err := theirs.Scan(src)
		size := errors.As(err, new(*muyo.InvalidDataSizeError))
		if !size && !errors.As(err, new(*muyo.InvalidTypeError)) {
			t.Errorf("Scan(%v) there: %#v", src, err)
		}
		wantInput(t, ours.Scan(src), nil)
		if ours != (idtype.SnoID{1}) || size != theirs.IsZero() {
			t.Errorf("Scan(%v) leaves %v here, %v there", src, ours, theirs)
		}
	}
	for name, read := range map[string]func(id any, b []byte) error{
		"text": func(id any, b []byte) error {
			return id.(encoding.TextUnmarshaler).UnmarshalText(b)
		},
		"bytes": func(id any, b []byte) error {
			if there, ok := id.(encoding.BinaryUnmarshaler); ok {
				return there.UnmarshalBinary(b)
			}
			return errOf(idtype.FromBytes[idtype.SnoID](b))
		},
		"JSON": func(id any, b []byte) error { return id.(json.Unmarshaler).UnmarshalJSON(b) },
	} {
		err := read(new(muyo.ID), []byte(`"12345"`))
		if !errors.As(err, new(*muyo.InvalidDataSizeError)) {
			t.Errorf("%s there: %#v", name, err)
		}
		wantInput(t, read(new(idtype.SnoID), []byte(`"12345"`)), nil)
	}
	_, err := muyo.NewGenerator(&muyo.GeneratorSnapshot{SequenceMin: 7, SequenceMax: 7}, nil)
	if !errors.As(err, new(*muyo.InvalidSequenceBoundsError)) {
		t.Errorf("there: %#v", err)
	}
	if _, err := withPool(generator.Pool{Min: 8, Max: 7}); !errors.As(err,
		new(*generator.OptionError)) {
		t.Errorf("here: %#v", err)
	}
	_, err = generator.NewSno(generator.Given(65_536), nil)
	if !errors.As(err, new(*idtype.RangeError)) {
		t.Errorf("here: %#v", err)
	}
}

func withPool(p generator.Pool) (*generator.Sno, error) {
	return generator.NewSno(generator.Given(1), &generator.Options{Pool: &p})
}

// TestSnoPools: there bounds in the wrong order are swapped, and a maximum of 0 is 65,535. A pool
// has at least six numbers there, though the error speaks of four. Here a pool is what it says,
// down to one number.
func TestSnoPools(t *testing.T) {
	for size := 1; size <= 6; size++ {
		bounds := muyo.GeneratorSnapshot{SequenceMin: 100, SequenceMax: uint16(99 + size)}
		_, err := muyo.NewGenerator(&bounds, nil)
		if refused := errors.As(err, new(*muyo.InvalidSequenceBoundsError)); refused != (size < 6) {
			t.Errorf("a pool of %d there: %v", size, err)
		}
		g, err := withPool(generator.Pool{Min: 100, Max: 99 + size})
		if err != nil {
			t.Errorf("a pool of %d here: %v", size, err)
			continue
		}
		if id, err := g.Next(ctx); err != nil || id.Parts().Sequence != 100 {
			t.Errorf("a pool of %d here: %+v, %v", size, id.Parts(), err)
		}
	}
	turned := muyoWith(t, muyo.GeneratorSnapshot{SequenceMin: 20, SequenceMax: 10})
	if turned.SequenceMin() != 10 || turned.SequenceMax() != 20 {
		t.Errorf("%d..%d there", turned.SequenceMin(), turned.SequenceMax())
	}
	open := muyoWith(t, muyo.GeneratorSnapshot{SequenceMin: 20})
	if open.SequenceMin() != 20 || open.SequenceMax() != 65_535 {
		t.Errorf("%d..%d there", open.SequenceMin(), open.SequenceMax())
	}
	for _, bad := range []generator.Pool{{Min: 20, Max: 10}, {Min: 20}} {
		if _, err := withPool(bad); !errors.As(err, new(*generator.OptionError)) {
			t.Errorf("%+v here: %v", bad, err)
		}
	}
}

func ofClock(c generator.Clock) *generator.Sno {
	return must(generator.NewSno(generator.Given(1), &generator.Options{Clock: c}))
}

// TestSnoTickTock: in both, a clock that goes back within the run of a generator toggles the
// bit. Only there does it reach to before the start.
func TestSnoTickTock(t *testing.T) {
	// It has minted an hour ahead of the clock, and is as after a start that saw the clock set
	// back.
	theirs := muyoWith(t, muyo.GeneratorSnapshot{WallHi: muyoUnits(time.Now().Add(time.Hour))})
	now := muyoUnits(time.Now())
	id := theirs.New(0)
	if at := muyoUnits(id.Time()); id[4]&1 != 1 || at < now || at > muyoUnits(time.Now()) {
		t.Errorf("there: %v of %v", id, id.Time())
	}

	clock := testclock.New(noon)
	g := ofClock(clock)
	clock.Set(noon.Add(2 * time.Hour))
	check(errOf(g.Next(ctx)))
	clock.Set(noon.Add(time.Hour))
	if id := must(g.Next(ctx)); id.Parts().TickTock != 1 || !id.Time().Equal(noon.Add(time.Hour)) {
		t.Errorf("an hour back, within the run: %+v", id.Parts())
	}

	clock = testclock.New(noon)
	g = ofClock(clock)
	clock.Set(noon.Add(time.Second))
	check(errOf(g.Next(ctx)))
	clock.Set(noon.Add(time.Second - time.Hour))
	n, err := g.Fill(ctx, make([]idtype.SnoID, 1<<17))
	if n != 65_535 || !errors.Is(err, generator.ErrClockBehind) {
		t.Errorf("an hour back, to before the start: %d IDs, %v", n, err)
	}
}

// TestSnoSnapshot: a generator goes on here where a snapshot from there ended. Drifts counts the
// regressions of all runs, and is odd while the tick-tock bit is set; here the snapshot has the
// bit alone.
func TestSnoSnapshot(t *testing.T) {
	for _, drifts := range []uint32{0, 1, 2, 7} {
		theirs := muyoWith(t,
			muyo.GeneratorSnapshot{Partition: muyo.Partition{0, 9}, Drifts: drifts})
		var last muyo.ID
		for range 10 {
			last = theirs.New(0)
		}
		if int(last[4]&1) != int(drifts%2) {
			t.Errorf("%d drifts, and the bit is %d", drifts, last[4]&1)
		}
		s := theirs.Snapshot()
		at := func(units int64) time.Time { return time.Unix(muyo.Epoch, units*muyo.TimeUnit) }
		options := &generator.Options{
			Clock: testclock.New(at(s.WallHi).Add(-time.Second)), // set back meanwhile
			Snapshot: &generator.Snapshot{
				Scheme: idtype.SchemeSno, Number: uint64(s.Partition.AsUint16()),
				Time: at(s.WallHi), Slot: 65_535, TickTock: s.Drifts%2 == 1,
			},
		}
		if s.WallSafe != 0 {
			options.Snapshot.Other = at(s.WallSafe)
		}
		g := must(generator.NewSno(generator.Given(9), options))
		id := must(g.Next(ctx))
		if id.Parts().TickTock == int(last[4]&1) || !id.Time().Equal(at(s.WallHi).Add(-time.Second)) {
			t.Errorf("%d drifts: after %v comes %+v", drifts, last, id.Parts())
		}
		back := g.Snapshot()
		sameBit := back.TickTock == (id.Parts().TickTock == 1)
		if !sameBit || !back.Time.Equal(id.Time()) || !back.Other.Equal(at(s.WallHi)) {
			t.Errorf("%+v", back)
		}
	}
}

// TestSnoGivenTimes: there a sequence that is used up begins again, with the same IDs, and a
// time out of range becomes another time. Here both are errors.
func TestSnoGivenTimes(t *testing.T) {
	theirs := muyoWith(t, muyo.GeneratorSnapshot{SequenceMin: 10, SequenceMax: 19})
	seen := map[muyo.ID]bool{}
	for range 30 {
		seen[theirs.NewWithTime(0, noon)] = true
	}
	if len(seen) != 10 {
		t.Errorf("%d of 30 IDs differ there", len(seen))
	}
	g := must(generator.NewBackdatedSno(1, &generator.Pool{Min: 10, Max: 19}))
	for range 10 {
		check(errOf(g.At(noon, 0)))
	}
	if _, err := g.At(noon, 0); !errors.As(err, new(*generator.OptionError)) {
		t.Errorf("here: %v", err)
	}

	for _, bad := range []time.Time{
		time.Date(2009, 12, 31, 23, 59, 59, 0, time.UTC),
		time.Date(2079, 9, 7, 15, 47, 35, 552e6, time.UTC),
		time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC),
	} {
		if got := theirs.NewWithTime(0, bad).Time(); got.Equal(bad) {
			t.Errorf("%v stays %v there", bad, got)
		}
		if _, err := g.At(bad, 0); !errors.As(err, new(*idtype.RangeError)) {
			t.Errorf("%v here: %v", bad, err)
		}
	}
}
