package schemes

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/idmint/idmint/idtype"
)

// Snowflake is the kind of snowflake IDs in Twitter's layout.
var Snowflake = add(SnowflakeIn[idtype.Twitter](""))

// The kinds of the other layouts that have a name.
var (
	Discord     = SnowflakeIn[idtype.Discord]("discord")
	TSID        = SnowflakeIn[idtype.TSID]("tsid")
	PgEdge      = SnowflakeIn[idtype.PgEdge]("pgedge")
	UnixEpoch   = SnowflakeIn[idtype.UnixEpoch]("unixepoch")
	SonyflakeV1 = SnowflakeIn[idtype.SonyflakeV1]("sonyflakev1")
	SonyflakeV2 = SnowflakeIn[idtype.SonyflakeV2]("sonyflakev2")
)

// Layouts are those kinds, whose numbers cannot be distinguished from Twitter's.
var Layouts = []Scheme{Discord, TSID, PgEdge, UnixEpoch, SonyflakeV1, SonyflakeV2}

// SnowflakeIn returns the kind of snowflake IDs in a layout, which has a name unless it is
// Twitter's.
func SnowflakeIn[L idtype.Snowflakes](name string) *Kind[idtype.SnowflakeIn[any, L]] {
	var layout L
	k := &Kind[idtype.SnowflakeIn[any, L]]{
		Facts:  *snowflakeFacts(layout.Layout()),
		Forms:  digits(idtype.Parse[idtype.SnowflakeIn[any, L]]),
		Values: parts(idtype.SnowflakeIn[any, L].Parts),
		Span:   within(idtype.Bounds[idtype.SnowflakeIn[any, L]]),
	}
	if !k.Text.Digits {
		k.Forms[1] = Form[idtype.SnowflakeIn[any, L]]{
			Name: Number, Read: readNumber[idtype.SnowflakeIn[any, L]],
			Write: func(id idtype.SnowflakeIn[any, L]) string { return strconv.FormatInt(int64(id), 10) },
		}
		text := layout.Layout().Bits().Text
		k.Forms[0].Unsorted = text != idtype.SnowflakeCrockford
	}
	k.Layout, k.Bits = name, layout.Layout()
	k.setPartNames()
	return k
}

// snowflakeFacts returns the facts of a layout.
func snowflakeFacts(l *idtype.SnowflakeLayout) *Facts {
	b := l.Bits()
	low := []Field{
		{Letter: 'n', Width: b.Node, Name: "node"}, {Letter: 's', Width: b.Step, Name: "step"},
	}
	if b.StepFirst {
		slices.Reverse(low)
	}
	f := &Facts{
		Scheme: idtype.SchemeSnowflake, Place: 7, Storages: integer,
		Fields: append([]Field{
			{Letter: '0', Width: 64 - b.Time - b.Node - b.Step},
			{Letter: TimeLetter, Width: b.Time, Name: "unix_ms"},
		}, slices.DeleteFunc(low, func(f Field) bool { return f.Width == 0 })...),
		Epoch: b.Epoch, Unit: b.Unit,
		BoundsHelp: "  snowflake  In Twitter's layout, or the one of --layout.\n",
		Names:      []Name{{"id", Text}},
		Text:       digitTexts("SnowflakeID", "1541815603606036480", "int64"),
		Codecs: map[idtype.Storage]Codec{"": {
			"Delta(8), ZSTD(6)",
			"the differences between IDs repeat, because few nodes and few units of time occur",
		}},
	}
	if b.Text != idtype.SnowflakeDecimal {
		f.Text = Texts{Name: f.Text.Name, Proto: "string"}
		f.Names = append([]Name{{"id", Number}}, Name{"text", Text})
	}
	return f
}

// OfID returns the facts of an ID's scheme and layout.
func OfID(id interface{ Scheme() idtype.Scheme }) *Facts {
	if s, ok := id.(interface {
		Layout() *idtype.SnowflakeLayout
	}); ok {
		return snowflakeFacts(s.Layout())
	}
	return Of(id.Scheme())
}

// LayoutOf returns the layout in a name of [idtype.LayoutOf], if it has one.
func LayoutOf(name idtype.Scheme) (*idtype.SnowflakeLayout, bool) {
	text, ok := strings.CutPrefix(string(name), string(idtype.SchemeSnowflake)+" ")
	if !ok {
		return nil, false
	}
	l, err := ParseLayout(text)
	return l, err == nil
}

// A LayoutError is returned for a text that does not describe a layout.
type LayoutError struct{ Text, Reason string }

func (e *LayoutError) Error() string {
	return fmt.Sprintf("layout %s: %s", Quoted(e.Text), e.Reason)
}

// ParseLayout parses a layout as [idtype.SnowflakeLayout] formats it, such as
// "epoch=1672531200000,node=3,step=8". The form of the text is given by its name, as in
// "text=crockford".
func ParseLayout(text string) (*idtype.SnowflakeLayout, error) {
	var b idtype.SnowflakeBits
	set := map[string]func(value string) error{
		"epoch": func(v string) (err error) { b.Epoch, err = strconv.ParseInt(v, 10, 64); return err },
		"unit":  func(v string) (err error) { b.Unit, err = time.ParseDuration(v); return err },
		"time":  func(v string) (err error) { b.Time, err = strconv.Atoi(v); return err },
		"node":  func(v string) (err error) { b.Node, err = strconv.Atoi(v); return err },
		"step":  func(v string) (err error) { b.Step, err = strconv.Atoi(v); return err },
		"text": func(v string) error {
			texts := []string{"decimal", "base58", "base32", "crockford"} // in the order of idtype's
			b.Text = idtype.SnowflakeText(slices.Index(texts, v))
			return nil
		},
		"stepfirst": func(v string) error { b.StepFirst = v == ""; return nil },
	}
	for _, word := range strings.Split(text, ",") {
		name, value, _ := strings.Cut(word, "=")
		if set[name] == nil {
			return nil, &LayoutError{text, "want epoch=, unit=, time=, node=, step=, stepfirst " +
				"or text=, not " + Quoted(word)}
		}
		if err := set[name](value); err != nil {
			return nil, &LayoutError{text, name + " " + Quoted(value) + " is not a value: " +
				"want an integer, for unit a duration such as 10ms"}
		}
	}
	l, err := idtype.NewSnowflakeLayout(b)
	if err != nil {
		return nil, &LayoutError{text, strings.TrimPrefix(err.Error(), "idtype: ")}
	}
	return l, nil
}
