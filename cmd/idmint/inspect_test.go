package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/explain"
	"github.com/idmint/idmint/internal/formats"
)

// The drawing of "Pattern: ID Generation", to the letter.
const documented = `               ID 14150009200065
                  ccccggggglllll
                   ▲    ▲    ▲
   counter (1415) ─┘    │    │
generator_id (92) ──────┘    │
   launch_id (65) ───────────┘
`

var drawings = map[string]string{
	"14150009200065": documented,
	"9223372029999999999": `                  ID 9223372029999999999
                     cccccccccggggglllll
                         ▲      ▲    ▲
 counter (922337202) ────┘      │    │
generator_id (99999) ───────────┘    │
   launch_id (99999) ────────────────┘
`,
	"10000000001": `              ID 10000000001
                 cggggglllll
                 ▲  ▲    ▲
     counter (1) ┘  │    │
generator_id (0) ───┘    │
   launch_id (1) ────────┘
`,
	"120000700008": `              ID 120000700008
                 ccggggglllll
                 ▲   ▲    ▲
    counter (12) ┘   │    │
generator_id (7) ────┘    │
   launch_id (8) ─────────┘
`,
	"1230000000000": `              ID 1230000000000
                 cccggggglllll
                  ▲   ▲    ▲
   counter (123) ─┘   │    │
generator_id (0) ─────┘    │
   launch_id (0) ──────────┘
launch 0: made by a test generator
`,
	"123451234512345": `                  ID 123451234512345
                     cccccggggglllll
                       ▲    ▲    ▲
     counter (12345) ──┘    │    │
generator_id (12345) ───────┘    │
   launch_id (12345) ────────────┘
`,
}

func TestInspectDraws(t *testing.T) {
	s := inside(t)
	for id, want := range drawings {
		if got := s.must("inspect", "--scheme", "decimal", id); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", id, got, want)
		}
	}
	both := documented + "\n" + drawings["10000000001"]
	got := s.must("inspect", "--scheme", "decimal", "14150009200065", "10000000001")
	if got != both {
		t.Errorf("two IDs:\n%s", got)
	}
	fed := s.feed("14150009200065\n10000000001", "inspect", "--scheme", "decimal")
	if fed.stdout != both || fed.status != 0 {
		t.Errorf("two lines: %v", fed)
	}
	if got := s.feed("", "inspect"); got.status != 0 || got.stdout != "" || got.stderr != "" {
		t.Errorf("no lines: %v", got)
	}
}

func TestInspectJSON(t *testing.T) {
	s := inside(t)
	got := s.feed("14150009200065\nx\n9223372029999999999\n", "inspect", "--scheme", "decimal",
		"--json")
	want := `{"scheme":"decimal","id":"14150009200065","counter":1415,"generator_id":92,"launch_id":65}
{"input":"x","error":"\"x\" as DecimalID: not a plain decimal number: digits only, without sign, spaces or leading zeros"}
{"scheme":"decimal","id":"9223372029999999999","counter":922337202,"generator_id":99999,"launch_id":99999}
`
	if got.stdout != want || got.stderr != "" || got.status != 1 {
		t.Errorf("got %v\nwant %s", got, want)
	}
}

// Nothing is read leniently, because what inspect takes for an ID somebody will look for in a
// table.
func TestInspectBadInput(t *testing.T) {
	s := inside(t)
	long := strings.Repeat("1", 1<<20)
	for _, input := range []string{
		"", "x", "+14150009200065", "-14150009200065", " 14150009200065", "14150009200065 ",
		"\t14150009200065", "\r14150009200065",
		"014150009200065", "00", "0", "-0", "9223372036854775808", "18446744073709551616",
		"14150009200065.0", "1.415e13", "1e10", "0x10000000000",
		"10_000_000_000", "1415 00092 00065", "14150009200065\x00", "\x00", "１４１５０００９２０００６５",
		"\xff", "\"14150009200065\"", "null",
		"1", "65", "9200065", "9999999999", // no counter
		"9223372030000000000", "9223372036854775807", // counter 922337203
		long,
	} {
		got := s.feed("14150009200065\n"+input+"\n10000000001\n", "inspect", "--scheme", "decimal")
		want := documented + "\n" + drawings["10000000001"]
		if got.stdout != want || got.status != 1 {
			t.Errorf("%.40q: the others are not answered: %v", input, got)
		}
		if strings.Count(got.stderr, "\n") != 1 || !strings.HasPrefix(got.stderr, "idmint: ") ||
			len(got.stderr) > 300 {
			t.Errorf("%.40q: stderr %q", input, got.stderr)
		}
		if input != "" && len(input) < 64 &&
			!strings.Contains(got.stderr, strings.Trim(fmt.Sprintf("%q", input), `"`)) {
			t.Errorf("%.40q: stderr does not name it: %q", input, got.stderr)
		}

		got = s.feed("14150009200065\n"+input+"\n10000000001\n", "inspect", "--scheme", "decimal",
			"--json")
		lines := strings.Split(got.stdout, "\n")
		var refusal struct{ Input, Error string }
		if len(lines) != 4 || got.status != 1 || got.stderr != "" {
			t.Errorf("%.40q as JSON: %v", input, got)
		} else if err := json.Unmarshal([]byte(lines[1]), &refusal); err != nil ||
			refusal.Error == "" || len(lines[1]) > 1000 ||
			!strings.HasPrefix(strings.ToValidUTF8(input, "\ufffd"),
				strings.TrimSuffix(refusal.Input, "…")) {
			t.Errorf("%.40q as JSON: %.1000q, %v", input, lines[1], err)
		}

		if strings.ContainsRune(input, 0) || len(input) > 100_000 { // such arguments do not exist
			continue
		}
		got = s.run("inspect", "--scheme", "decimal", "--", input, "14150009200065")
		if got.stdout != documented || got.status != 1 || strings.Count(got.stderr, "\n") != 1 {
			t.Errorf("%.40q as argument: %v", input, got)
		}
	}
}

// Whoever asks line by line gets each answer before the next question.
func TestInspectAnswersAtOnce(t *testing.T) {
	s := newShell(t)
	cmd := s.command("inspect", "--scheme", "decimal", "--json")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	answers := json.NewDecoder(out)
	for n := range 3 {
		fmt.Fprintf(in, "%d0000000001\n", n+1)
		var got struct{ Counter int }
		// command ends after a minute, and so does this
		if err := answers.Decode(&got); err != nil || got.Counter != n+1 {
			t.Fatalf("question %d: %+v, %v", n+1, got, err)
		}
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// On a terminal, where both outputs meet, an error stands where its input was.
func TestInspectOrder(t *testing.T) {
	s := newShell(t)
	cmd := s.command("inspect", "--scheme", "decimal", "14150009200065", "x", "10000000001")
	var both strings.Builder
	cmd.Stdout, cmd.Stderr = &both, &both
	_ = cmd.Run()
	parts := strings.Split(both.String(), "idmint: \"x\"")
	if len(parts) != 2 || parts[0] != documented ||
		!strings.HasSuffix(parts[1], "\n\n"+drawings["10000000001"]) {
		t.Errorf("%s", both.String())
	}
}

// The bits are those of the reference implementations' vectors.
var bitDrawings = map[string]string{
	"--scheme eightbyte 5b9bda2989e1989b": `eightbyte 5b9bda2989e1989b
number    6601109550783371419
010110111001101111011010001010011000100111 100001 100 1 10001001 1011
tttttttttttttttttttttttttttttttttttttttttt ssssss ggg m gggggggg cccc
▲                                          ▲      ▲   ▲ ▲        ▲
│                                          │      │   │ │        └ cluster_id 11
│                                          │      └───┼─┘ generator_id 1161
│                                          │          └ mode TIME_SEQUENTIAL
│                                          └ sequence 33
└ unix_ms 1573827159591, 2019-11-15T14:12:39.591Z
`,
	"--form hex 4b97a8b1ea8f089b": `eightbyte 4b97a8b1ea8f089b
number    5447007756425824411
010010111001011110101000101100011110101010 001111 000 0 10001001 1011
tttttttttttttttttttttttttttttttttttttttttt ssssss ggg m gggggggg cccc
▲                                          ▲      ▲   ▲ ▲        ▲
│                                          │      │   │ │        └ cluster_id 11
│                                          │      └───┼─┘ generator_id 137
│                                          │          └ mode SPREAD
│                                          └ sequence 15
└ unix_ms 1475540806098 with its bits reversed, 2016-10-04T00:26:46.098Z
`,
	"xinaS8QBh": `short xinaS8QBh
number 11093174944930914
0000 000000100111011010010010111100010000000001 100001110 001100010
0000 tttttttttttttttttttttttttttttttttttttttttt sssssssss rrrrrrrrr
     ▲                                          ▲         ▲
     │                                          │         └ random 98
     │                                          └ sequence 270
     └ unix_ms 1562179504129, 2019-07-03T18:45:04.129Z
`,
	"8fhmi7mfls62jp64": `sno 8fhmi7mfls62jp64
hex 335f48168d9e8808dc82
uuid 3866686d-6937-6d66-6c73-36326a703634
00110011010111110100100000010110100011011001111010001000000010001101110010000010
tttttttttttttttttttttttttttttttttttttttkmmmmmmmmppppppppppppppppssssssssssssssss
▲                                      ▲▲       ▲               ▲
│                                      ││       │               └ sequence 56450
│                                      ││       └ partition 34824
│                                      │└ meta 158
│                                      └ tick_tock 1
└ unix_ms 1703587783960, 2023-12-26T10:49:43.960Z
`,
	"--scheme sequence 57": `sequence 57
a number that a counter gave
`,
}

func TestInspectDrawsBits(t *testing.T) {
	s := inside(t)
	for args, want := range bitDrawings {
		got := s.must(append([]string{"inspect"}, strings.Fields(args)...)...)
		if got != want {
			t.Errorf("%s:\n%s\nwant\n%s", args, got, want)
		}
		for _, l := range lines(got) {
			if n := utf8.RuneCountInString(l); n > 80 {
				t.Errorf("%s: %d columns: %s", args, n, l)
			}
		}
	}
}

// The widest numbers fit a terminal, too.
func TestDrawingsFit(t *testing.T) {
	for _, id := range []identified{
		decimalKind.of(formats.DecimalMax),
		traceKind.of(1<<63 - 1),
		eightByteKind.of(idtype.MustParse[idtype.EightByteID]("ffffffffffffffff")),
		eightByteKind.of(idtype.MustParse[idtype.EightByteID]("ffffffffffffefff")),
		shortKind.of(1<<60 - 1),
		snoKind.of(idtype.MustParse[idtype.SnoID]("xxxxxxxxxxxxxxxx")),
	} {
		for _, l := range id.drawing(time.Now()) {
			if len(l) > drawingWidth {
				t.Errorf("%s: %d columns: %v", id.Name(), len(l), l)
			}
		}
	}
}

// A trace ID's times are the last and the next one of its timestamp.
func TestInspectTrace(t *testing.T) {
	s := inside(t)
	got := s.must("inspect", "--scheme", "trace", "4646428214845635103")
	const head = `trace 4646428214845635103
0 1000000011110110110110111 0101111111010000 1110011111101000011111
0 ttttttttttttttttttttttttt nnnnnnnnnnnnnnnn bbbbbbbbbbbbbbbbbbbbbb
  ▲                         ▲                ▲
  │                         │                └ bottom 3799583
  │                         └ node_no 24528
  └ timestamp 16903607, `
	rest, ok := strings.CutPrefix(got, head)
	if !ok {
		t.Fatalf("\n%s\nwant\n%s", got, head)
	}
	first, second, ok := strings.Cut(strings.TrimSuffix(rest, "\n"), " or ")
	last, err := time.Parse("2006-01-02T15:04:05Z", first)
	next, err2 := time.Parse("2006-01-02T15:04:05Z", second)
	if !ok || err != nil || err2 != nil {
		t.Fatalf("%q: %v, %v", rest, err, err2)
	}
	now := time.Now()
	if last.Unix()%33554432 != 16903607 || next.Unix()-last.Unix() != 33554432 || last.After(now) ||
		next.Before(now.Add(-time.Minute)) {
		t.Errorf("%v or %v at %v", last, next, now)
	}
}

// Without a scheme all that fit are listed, with their times, the likely ones first.
func TestInspectLists(t *testing.T) {
	s := inside(t)
	const a388 = `\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ or \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ, `
	for args, want := range map[string]string{
		"14150009200065": `14150009200065
  decimal   counter 1415, generator_id 92, launch_id 65
  trace     ` + a388 + `timestamp 51, node_no 31289, bottom 368065
  sequence  a number that a counter gave
`,
		"1234567890": `1234567890
  trace     ` + a388 + `timestamp 0, node_no 294, bottom 1442514
  sequence  a number that a counter gave
  short     2139-11-14T05:28:33.853Z, unix_ms 5360534913853, sequence 422, random 374
`,
		// 16 digits are everything but short.
		"5555555555555555": `5555555555555555
  decimal   counter 555555, generator_id 55555, launch_id 55555
  trace     ` + a388 + `timestamp 20210, node_no 65101, bottom 2832611
  sequence  a number that a counter gave
  eightbyte 2016-06-15T18:31:43.701Z, unix_ms 1466015503701, sequence 21, mode TIME_SEQUENTIAL, generator_id 597, cluster_id 5
  sno       2016-09-29T01:31:42.148Z, unix_ms 1475112702148, tick_tock 1, meta 24, partition 50737, sequence 35939
`,
		"--form number 11093174944930914": `11093174944930914
  decimal   counter 1109317, generator_id 49449, launch_id 30914
  trace     ` + a388 + `timestamp 40356, node_no 48192, bottom 400482
  sequence  a number that a counter gave
  eightbyte 1970-01-31T14:40:19.008Z, unix_ms 2644819008, sequence 6, mode TIME_SEQUENTIAL, generator_id 198, cluster_id 2
  short     2019-07-03T18:45:04.129Z, unix_ms 1562179504129, sequence 270, random 98
`,
	} {
		got := s.must(append([]string{"inspect"}, strings.Fields(args)...)...)
		if !regexp.MustCompile("^" + want + "$").MatchString(got) {
			t.Errorf("%s:\n%s\nwant\n%s", args, got, want)
		}
	}
	got := s.feed("14150009200065\n!\n57\n", "inspect", "--json")
	want := `{"scheme":"decimal","id":"14150009200065","counter":1415,"generator_id":92,"launch_id":65}
{"scheme":"trace","id":"14150009200065","timestamp":51,"node_no":31289,"bottom":368065}
{"scheme":"sequence","id":"14150009200065"}
{"input":"!","error":"\"!\" fits no scheme: inspect --scheme says why"}
{"scheme":"trace","id":"57","timestamp":0,"node_no":0,"bottom":57}
{"scheme":"sequence","id":"57"}
{"scheme":"short","id":"3707","text":"57","unix_ms":1519862400000,"sequence":7,"random":123}
`
	if got.stdout != want || got.status != 1 || got.stderr != "" {
		t.Errorf("got %v\nwant %s", got, want)
	}
	// An ID of today is first what it is, unless it happens to be one of another scheme and of
	// these years as well.
	for scheme, form := range map[string]string{
		"short": "number",
		"eightbyte --generator 1 --cluster 2 --mode time": "hex",
	} {
		first := 0
		for range 12 {
			minted := s.must(append([]string{"new", "--json"}, strings.Fields(scheme)...)...)
			var id struct{ ID string }
			if err := json.Unmarshal([]byte(minted), &id); err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(s.must("inspect", "--json", "--form", form, id.ID), minted) {
				first++
			}
		}
		if first < 4 {
			t.Errorf("%s: %d of 12 are first what they are", scheme, first)
		}
	}
	now := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	for text, want := range map[string]int{
		"2021-11-20T23:59:59.999Z": 2, "2021-11-21T00:00:00Z": 0, "2026-11-22T00:00:00Z": 0,
		"2026-11-22T00:00:00.001Z": 2,
	} {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		id, err := idtype.ShortParts{UnixMs: at.UnixMilli(), Random: 1}.ID()
		got := explain.Doubt(shortKind.of(id), now)
		if err != nil || got != want {
			t.Errorf("%s: doubt %d, want %d, %v", text, got, want, err)
		}
	}
}

// Each form is read as strictly as the text, and shown as what it is.
func TestInspectForms(t *testing.T) {
	s := inside(t)
	const (
		eight = `{"scheme":"eightbyte","id":"cb54ecf284000000","mode":"SPREAD",` +
			`"unix_ms":143062936275,"sequence":0,"generator_id":0,"cluster_id":0}`
		short = `{"scheme":"short","id":"11093174944930914","text":"xinaS8QBh",` +
			`"unix_ms":1562179504129,"sequence":270,"random":98}`
		sno = `{"scheme":"sno","id":"8fhmi7mfls62jp64","hex":"335f48168d9e8808dc82",` +
			`"unix_ms":1703587783960,` +
			`"tick_tock":1,"meta":158,"partition":34824,"sequence":56450}`
	)
	for _, test := range []struct{ scheme, form, input, want string }{
		{"eightbyte", "text", "cb54ecf284000000", eight},
		{"eightbyte", "text", "CB54ECF284000000", `"CB54ECF284000000" as EightByteID`},
		{"eightbyte", "text", `\xcb54ecf284000000`, "18 bytes, want 16 characters"},
		{"eightbyte", "text", "0000000000000000", "zero means not assigned"},
		{"eightbyte", "hex", "cb54ecf284000000", eight},
		{"eightbyte", "hex", "CB54ECF284000000", eight},
		{"eightbyte", "hex", `\xcb54ecf284000000`, eight},
		{"eightbyte", "hex", "0xCB54ECF284000000", eight},
		{"eightbyte", "hex", "Cb54ecf284000000", "in lower or upper case"},
		{"eightbyte", "hex", `\x0xcb54ecf284000000`, "want hexadecimal digits"},
		{"eightbyte", "hex", `0Xcb54ecf284000000`, "want hexadecimal digits"},
		{"eightbyte", "hex", "cb54ecf28400000", "want hexadecimal digits"},
		{"eightbyte", "hex", "cb54ecf2840000", `"cb54ecf2840000" as EightByteID`},
		{"eightbyte", "hex", "", `"" as EightByteID`},
		{
			"eightbyte", "hex", "0x0000000000000000",
			`"0x0000000000000000" as EightByteID: zero means not assigned`,
		},
		{"eightbyte", "hex", " cb54ecf284000000", "want hexadecimal digits"},
		{"eightbyte", "number", "-3795148059625652224", eight},
		{"eightbyte", "number", "14651596014083899392", eight}, // as BIGINT UNSIGNED
		{"eightbyte", "number", "+1", "without plus"},
		{"eightbyte", "number", "-01", "leading zeros"},
		{"eightbyte", "number", "18446744073709551616", "an integer of 64 bits"},
		{"eightbyte", "number", "0", "zero means not assigned"},
		{"short", "text", "xinaS8QBh", short},
		{"short", "text", "11093174944930914", "not a short ID's text"},
		{"short", "text", "A", "zero means not assigned"},
		{"short", "text", "\rxinaS8QBh", "not a short ID's text"},
		{"short", "text", "AAA", "its highest digit is A"},
		{"short", "number", "11093174944930914", short},
		{"short", "number", "xinaS8QBh", "not a plain decimal number"},
		// 61 bits
		{"short", "number", "1152921504606846976", "1152921504606846976: ShortID: unix_ms"},
		{"short", "number", "-5", "not a plain decimal number"},
		{"sno", "text", "8fhmi7mfls62jp64", sno},
		{"sno", "text", "8FHMI7MFLS62JP64", "upper case"},
		{"sno", "text", "8fhmi7mfls62jp6y", "want 2-9 or a-x"},
		{"sno", "text", "2222222222222222", "zero means not assigned"},
		{"sno", "hex", `\x335f48168d9e8808dc82`, sno},
		{"sno", "hex", "0x335F48168D9E8808DC82", sno},
		{"sno", "hex", "335f48168d9e8808", `"335f48168d9e8808" as SnoID`},
		{"sno", "uuid", "3866686d-6937-6d66-6c73-36326a703634", sno},
		{"sno", "uuid", "3866686D-6937-6D66-6C73-36326A703634", "not a UUID of lower-case"},
		{"sno", "uuid", "8fhmi7mfls62jp64", "want a UUID"},
		{"sno", "uuid", "3866686d69376d666c7336326a703634", "want a UUID"},
		{"sno", "uuid", "00000000-0000-0000-0000-000000000000", "zero means not assigned"},
		{"sno", "uuid", "123e4567-e89b-42d3-a456-426614174000", "want 2-9 or a-x"},
		{
			"trace", "number", "57",
			`{"scheme":"trace","id":"57","timestamp":0,"node_no":0,"bottom":57}`,
		},
		{"trace", "text", "4194304", "bottom 0 is outside 1..4194303"},
		{"sequence", "text", "057", "not a plain decimal number"},
		{
			"sequence", "number", "9223372036854775807",
			`{"scheme":"sequence","id":"9223372036854775807"}`,
		},
	} {
		got := s.feed(test.input+"\n", "inspect", "--json", "--scheme", test.scheme, "--form",
			test.form)
		if strings.HasPrefix(test.want, "{") {
			if got.stdout != test.want+"\n" || got.status != 0 || got.stderr != "" {
				t.Errorf("%+v: %v", test, got)
			}
			continue
		}
		var refusal struct{ Input, Error string }
		err := json.Unmarshal([]byte(got.stdout), &refusal)
		if err != nil || got.status != 1 || refusal.Input != test.input ||
			!strings.Contains(refusal.Error, test.want) {
			t.Errorf("%+v: %v", test, got)
		}
	}
	// A form selects the schemes that have it.
	if got := s.must("inspect", "--json", "--form", "hex", "0x335f48168d9e8808dc82"); got != sno+
		"\n" {
		t.Errorf("hex: %s", got)
	}
	got := s.must("inspect", "--json", "--form", "number", "--", "-3795148059625652224")
	if got != eight+"\n" {
		t.Errorf("number: %s", got)
	}
}
