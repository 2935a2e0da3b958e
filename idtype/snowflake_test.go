package idtype_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/idtype"
)

// anyLayout is the layout that a test says, with each of its texts.
type (
	anyLayout struct{}
	base58    struct{}
	base32    struct{}
	crockford struct{}
)

var tested [4]*idtype.SnowflakeLayout // by its text

func (anyLayout) Layout() *idtype.SnowflakeLayout { return tested[idtype.SnowflakeDecimal] }
func (base58) Layout() *idtype.SnowflakeLayout    { return tested[idtype.SnowflakeBase58] }
func (base32) Layout() *idtype.SnowflakeLayout    { return tested[idtype.SnowflakeBase32] }
func (crockford) Layout() *idtype.SnowflakeLayout { return tested[idtype.SnowflakeCrockford] }

type (
	asBase58    = idtype.SnowflakeIn[User, base58]
	asBase32    = idtype.SnowflakeIn[User, base32]
	asCrockford = idtype.SnowflakeIn[User, crockford]
)

func setLayout(t testing.TB, b idtype.SnowflakeBits) {
	t.Helper()
	for text := range tested {
		b.Text = idtype.SnowflakeText(text)
		l, err := idtype.NewSnowflakeLayout(b)
		if err != nil {
			t.Fatal(err)
		}
		tested[text] = l
	}
}

// TestSnowflakesOfOthers: testdata/snowflake.txt has 700 IDs of 7,000, of which all agree. They were
// made by bwmarrin/snowflake 0.3.0, sony/sonyflake 1.3.0 and 2.2.0, tsid-creator 5.2.6 and ClickHouse
// 26.5.1.1. A line is an ID, its time, node and step, and its text in base 58, base 32 and
// Crockford's, where they have one.
func TestSnowflakesOfOthers(t *testing.T) {
	file, err := os.Open("testdata/snowflake.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := 0
	for scanner := bufio.NewScanner(file); scanner.Scan(); lines++ {
		if line := scanner.Text(); line[0] == '#' {
			_, text, _ := strings.Cut(line, "\t")
			var bits idtype.SnowflakeBits
			if err := json.Unmarshal([]byte(text), &bits); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			setLayout(t, bits)
		} else if wrong := wrongSnowflake(strings.Fields(line)); wrong != "" {
			t.Fatalf("%s: %s", line, wrong)
		}
	}
	if lines < 600 {
		t.Errorf("%d lines", lines)
	}
}

func wrongSnowflake(f []string) string {
	number, _ := strconv.ParseInt(f[0], 10, 64)
	id := idtype.SnowflakeIn[User, anyLayout](number)
	if number > 0 {
		p := id.Parts()
		parts := fmt.Sprint(p.UnixMs, p.Node, p.Step)
		made, err := id.Layout().ID(p)
		if parts != strings.Join(f[1:4], " ") || made != number || err != nil || id.Validate() != nil {
			return fmt.Sprint(parts, " make ", made, err, id.Validate())
		}
		if id.Time().UnixMilli() != p.UnixMs || id.Node() != p.Node || id.Step() != p.Step {
			return fmt.Sprint(id.Time(), id.Node(), id.Step())
		}
		spans, err := idtype.Bounds[idtype.SnowflakeIn[User, anyLayout]](id.Time(), id.Time())
		if err != nil || id < spans[0].Min || id > spans[0].Max {
			return fmt.Sprint(spans, err)
		}
	}
	texts := []string{
		readAs(f[4], asBase58(number), idtype.Parse[asBase58]),
		readAs(f[5], asBase32(number), idtype.Parse[asBase32]),
		readAs(f[6], asCrockford(number), idtype.Parse[asCrockford]),
		readAs(f[0], id, idtype.Parse[idtype.SnowflakeIn[User, anyLayout]]),
	}
	return strings.Join(texts, "")
}

// readAs reads a text of another program, and says what is wrong.
func readAs[T idtype.ID](text string, want T, parse func(string) (T, error)) string {
	if text == "-" {
		return ""
	}
	got, err := parse(text)
	if number := reflect.ValueOf(want).Int(); number <= 0 {
		if !errors.As(err, new(*idtype.InputError)) || errors.Is(err, idtype.ErrZero) != (number == 0) {
			return fmt.Sprintf("%q is %v, %v", text, got, err)
		}
		return ""
	}
	js, jsErr := json.Marshal(want)
	var back T
	if err != nil || got != want || want.String() != text || string(js) != `"`+text+`"` ||
		jsErr != nil || json.Unmarshal(js, &back) != nil || back != want {
		return fmt.Sprintf("%q is %v, %v, want %v, JSON %s %v", text, got, err, want, js, back)
	}
	return ""
}

// What other programs read, and would not write.
func TestSnowflakeTexts(t *testing.T) {
	setLayout(t, idtype.SnowflakeBits{Node: 10, Step: 12})
	for _, text := range []string{
		"", "1", "(0)", "l", "0", "12", "npL6MjP8Qfd", "zzzzzzzzzzzzz", " 2", "2 ",
	} {
		if id, err := idtype.Parse[asBase58](text); err == nil || id != 0 {
			t.Errorf("base 58 %q is %d, %v", text, int64(id), err)
		}
	}
	for _, text := range []string{
		"0axs476xsz43m", "OAXS476XSZ43M", "0AXS476XSZ43", "00AXS476XSZ43M", "8000000000000",
		"ZZZZZZZZZZZZZ", `"0AXS476XSZ43M"`, "0000000000000", "KAXS476XSZ43M" + "\x00",
	} {
		if id, err := idtype.Parse[asCrockford](text); err == nil || id != 0 {
			t.Errorf("Crockford %q is %d, %v", text, int64(id), err)
		}
	}
	for text, want := range map[string]int64{"2": 1, "npL6MjP8Qfc": math.MaxInt64, "21": 58} {
		if id, err := idtype.Parse[asBase58](text); int64(id) != want || err != nil {
			t.Errorf("%s is %d, %v", text, int64(id), err)
		}
	}
	for _, id := range []fmt.Stringer{asBase58(0), asBase32(-7), asCrockford(0)} {
		if text := id.String(); text[0] != '(' {
			t.Errorf("%T is %s", id, text)
		}
	}
	for text, want := range map[string]asCrockford{
		"null": 0, `"0AXS476XSZ43M"`: 0x05772439BB9F9074, "9007199254740991": 1<<53 - 1,
	} {
		id := asCrockford(1)
		if err := json.Unmarshal([]byte(text), &id); err != nil || id != want {
			t.Errorf("JSON %s is %d, %v", text, int64(id), err)
		}
	}
	for _, text := range []string{"0", `"393823322797740148"`, "393823322797740148", "1.5", "{}", `""`, "1e3"} {
		if id := asCrockford(7); json.Unmarshal([]byte(text), &id) == nil || id != 7 {
			t.Errorf("JSON %s is %d", text, int64(id))
		}
	}
}

// The worked examples of Discord's reference.
func TestSnowflakePresets(t *testing.T) {
	id := idtype.SnowflakeIn[User, idtype.Discord](175928847299117063)
	want := idtype.SnowflakeParts{UnixMs: 1462015105796, Node: 1 << 5, Step: 7}
	if id.Parts() != want || id.Time() != time.UnixMilli(1462015105796).UTC() {
		t.Errorf("%d is %+v", id, id.Parts())
	}
	for end, l := range map[string]*idtype.SnowflakeLayout{
		"2080-07-10": idtype.Twitter{}.Layout(), "2084-09-06": idtype.Discord{}.Layout(),
		"2089-09-06": idtype.TSID{}.Layout(), "2092-09-06": idtype.PgEdge{}.Layout(),
		"2039-09-07": idtype.UnixEpoch{}.Layout(), "2188-11-16": idtype.SonyflakeV1{}.Layout(),
		"2199-03-19": idtype.SonyflakeV2{}.Layout(),
	} {
		last := time.UnixMilli(l.Parts(l.Most()).UnixMs).UTC()
		if l.Most() != math.MaxInt64 || last.Format(time.DateOnly) != end {
			t.Errorf("%+v ends %v, want %s", l.Bits(), last, end)
		}
	}
}

// Layouts that make no IDs, or not those that were meant, are refused as the program starts.
func TestSnowflakeLayouts(t *testing.T) {
	good := idtype.SnowflakeBits{Epoch: 1672531200000, Node: 3, Step: 8}
	setLayout(t, good)
	if most := tested[0].Most(); most != 1<<52-1 {
		t.Errorf("the largest ID is %d", most)
	}
	wantRangeError(t, idtype.SnowflakeIn[User, anyLayout](1<<52).Validate(), "SnowflakeID", "unix_ms")
	for _, change := range []func(*idtype.SnowflakeBits){
		func(b *idtype.SnowflakeBits) { b.Epoch = 1672531200 }, // seconds
		func(b *idtype.SnowflakeBits) { b.Epoch *= 1000 },
		func(b *idtype.SnowflakeBits) { b.Epoch = -1 },
		func(b *idtype.SnowflakeBits) { b.Epoch++; b.Unit = 10 * time.Millisecond },
		func(b *idtype.SnowflakeBits) { b.Unit = time.Microsecond },
		func(b *idtype.SnowflakeBits) { b.Unit = time.Minute },
		func(b *idtype.SnowflakeBits) { b.Node, b.Step = 0, 0 },
		func(b *idtype.SnowflakeBits) { b.Node = -1 },
		func(b *idtype.SnowflakeBits) { b.Node = 24 },
		func(b *idtype.SnowflakeBits) { b.Node, b.Step = math.MaxInt, 1 },
		func(b *idtype.SnowflakeBits) { b.Time = 42 },
		func(b *idtype.SnowflakeBits) { b.Time = 31 },
		func(b *idtype.SnowflakeBits) { b.Time, b.Node, b.Step = 41, 10, 13 },
		func(b *idtype.SnowflakeBits) { b.Time = 32 }, // ends 50 days after its epoch
		func(b *idtype.SnowflakeBits) { b.Text = 4 },
		func(b *idtype.SnowflakeBits) { b.Text = -1 },
	} {
		b := good
		change(&b)
		l, err := idtype.NewSnowflakeLayout(b)
		if !errors.As(err, new(*idtype.LayoutError)) || l != nil {
			t.Errorf("%+v: %v", b, err)
		}
	}
	setLayout(t, idtype.SnowflakeBits{Unit: time.Second, Time: 32, Node: 1})
	drawn := idtype.SnowflakeIn[User, anyLayout](0).Generate(rand.New(rand.NewSource(1)), 0)
	if id := drawn.Interface().(idtype.SnowflakeIn[User, anyLayout]); id.Validate() != nil {
		t.Errorf("%d is drawn, of 33 bits", id)
	}
	setLayout(t, good)
	of := idtype.LayoutOf(idtype.SnowflakeIn[User, anyLayout](1))
	if of != idtype.LayoutOf(asBase58(1)) ||
		of != "snowflake epoch=1672531200000,unit=1ms,time=41,node=3,step=8" ||
		idtype.LayoutOf(idtype.SnowflakeID(1)) != "snowflake" {
		t.Errorf("the layout is %s", of)
	}
}
