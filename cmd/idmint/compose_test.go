package main

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestCompose(t *testing.T) {
	s := inside(t)
	for fields, want := range map[string]string{
		`{"counter":1415,"generator_id":92,"launch_id":65}`: "14150009200065",
		`{"launch_id":65,"scheme":"decimal","id":"14150009200065","counter":1415,` +
			`"generator_id":92}`: "14150009200065",
		`  { "counter" : 1, "generator_id" : 0, "launch_id" : 0 }  `:   "10000000000",
		`{"counter":922337202,"generator_id":99999,"launch_id":99999}`: "9223372029999999999",
		// every digit counts
		`{"id":9223372029999999999,"counter":922337202,` +
			`"generator_id":99999,"launch_id":99999}`: "9223372029999999999",
		`{"id":null,"scheme":null,"counter":1,"generator_id":0,"launch_id":1}`: "10000000001",
	} {
		if got := s.must("compose", "--scheme", "decimal", fields); got != want+"\n" {
			t.Errorf("%s: %q, want %s", fields, got, want)
		}
	}
}

func TestComposeBadInput(t *testing.T) {
	s := inside(t)
	for _, test := range []struct{ fields, want string }{
		{``, "want a JSON object"},
		{` `, "want a JSON object"},
		{`null`, "want a JSON object"},
		{`{}`, "want the fields counter, generator_id and launch_id"},
		{`{"counter":1,"launch_id":1}`, "want the fields counter, generator_id and launch_id"},
		{
			`{"counter":1,"generator_id":null,"launch_id":1}`,
			"want the fields counter, generator_id and launch_id",
		},
		{`[]`, "want a JSON object"},
		{`"14150009200065"`, "want a JSON object"},
		{`14150009200065`, "want a JSON object"},
		{`x`, "invalid character"},
		{`{`, "unexpected end of JSON input"},
		{`{"counter":1,"generator_id":2,"launch_id":3`, "unexpected end of JSON input"},
		{`{"counter":1,"generator_id":2,"launch_id":3,}`, "invalid character"},
		{`{"counter":1,"generator_id":2,"launch_id":3,"node":4}`, `unknown field "node"`},
		{`{"counter":"1","generator_id":2,"launch_id":3}`, "counter: want an integer, not \"1\""},
		{
			`{"counter":1,"generator_id":2.5,"launch_id":3}`,
			"generator_id: want an integer, not 2.5",
		},
		{`{"counter":1e3,"generator_id":2,"launch_id":3}`, "counter: want an integer, not 1e3"},
		{`{"counter":1,"generator_id":2,"launch_id":true}`, "launch_id: want an integer, not true"},
		{`{"counter":1,"generator_id":2,"launch_id":[3]}`, "launch_id: want an integer, not [3]"},
		{
			`{"counter":99999999999999999999,"generator_id":2,"launch_id":3}`,
			"counter: want an integer",
		},
		{`{"counter":0,"generator_id":2,"launch_id":3}`, "counter 0 is outside 1..922337202"},
		{`{"counter":-1,"generator_id":2,"launch_id":3}`, "counter -1 is outside"},
		{`{"counter":922337203,"generator_id":2,"launch_id":3}`, "counter 922337203 is outside"},
		{
			`{"counter":1,"generator_id":100000,"launch_id":3}`,
			"generator_id 100000 is outside 0..99999",
		},
		{
			`{"counter":1,"generator_id":2,"launch_id":100000}`,
			"launch_id 100000 is outside 0..99999",
		},
		{`{"counter":1,"generator_id":2,"launch_id":-3}`, "launch_id -3 is outside"},
		{
			`{"counter":1,"generator_id":2,"launch_id":3} ` +
				`{"counter":1,"generator_id":2,"launch_id":3}`,
			"after top-level value",
		},
		{`{"counter":1,"generator_id":2,"launch_id":3}x`, "after top-level value"},
		{
			`{"counter":1,"generator_id":2,"launch_id":3,"scheme":"trace"}`,
			`the scheme is "trace", not decimal`,
		},
		{`{"counter":1,"generator_id":2,"launch_id":3,"scheme":7}`, "the scheme is 7, not decimal"},
		{
			`{"counter":1,"generator_id":2,"launch_id":3,"id":"10000200004"}`,
			`the id is "10000200004", but the other fields are those of 10000200003`,
		},
		{`{"counter":1,"generator_id":2,"launch_id":3,"id":10000200004}`, "the id is 10000200004"},
		{`{"counter":1,"generator_id":2,"launch_id":3,"id":"x"}`, `the id is "x"`},
		{`{"counter":1,"generator_id":2,"launch_id":3,"counter":1}`, `field "counter" comes twice`},
		{
			`{"counter":1,"generator_id":2,"launch_id":3,"\u0063ounter":1}`,
			`field "counter" comes twice`,
		},
		{`{"Counter":1,"generator_id":2,"launch_id":3}`, `unknown field "Counter"`},
		{
			`{"counter":{"a":[1,"}\""]},"generator_id":2,"launch_id":3}`,
			`counter: want an integer, not {"a":[1,"}\""]}`,
		},
		{`{"counter":1,"generator_id":2,"launch_id":3,"id":1.5}`, `1.5`},
	} {
		good := `{"counter":1415,"generator_id":92,"launch_id":65}` + "\n"
		got := s.feed(good+test.fields+"\n"+good, "compose", "--scheme", "decimal")
		if got.stdout != "14150009200065\n14150009200065\n" || got.status != 1 {
			t.Errorf("%s: the others are not answered: %v", test.fields, got)
		}
		if !strings.HasPrefix(got.stderr, "idmint: ") || !strings.Contains(got.stderr, test.want) ||
			strings.Count(got.stderr, "\n") != 1 || strings.Contains(got.stderr, "struct") {
			t.Errorf("%s: stderr %q, want %q", test.fields, got.stderr, test.want)
		}
		got = s.feed(test.fields+"\n", "compose", "--scheme", "decimal", "--json")
		var refusal struct{ Input, Error string }
		err := json.Unmarshal([]byte(got.stdout), &refusal)
		if err != nil || got.status != 1 || refusal.Input != test.fields ||
			!strings.Contains(refusal.Error, test.want) {
			t.Errorf("%s as JSON: %v, %v", test.fields, got, err)
		}
	}
	// A megabyte of rubbish is an error of a line.
	got := s.feed(strings.Repeat("x", 1<<20)+"\n", "compose", "--scheme", "decimal")
	if got.status != 1 || len(got.stderr) > 600 {
		t.Errorf("1 MB: %v", got)
	}
}

// Every scheme wants its own fields, all of them, and names that agree with them.
func TestComposeSchemes(t *testing.T) {
	s := inside(t)
	for _, test := range []struct{ scheme, fields, want string }{
		{"trace", `{"timestamp":16903607,"node_no":24528,"bottom":3799583}`, "4646428214845635103"},
		{
			"trace", `{"timestamp":16903607,"node_no":24528}`,
			"want the fields timestamp, node_no and bottom",
		},
		{
			"trace", `{"timestamp":33554432,"node_no":0,"bottom":1}`,
			"timestamp 33554432 is outside 0..33554431",
		},
		{"trace", `{"timestamp":0,"node_no":0,"bottom":0}`, "bottom 0 is outside"},
		{
			"eightbyte",
			`{"mode":"SPREAD","unix_ms":143062936275,"sequence":0,"generator_id":0,"cluster_id":0}`,
			"cb54ecf284000000",
		},
		{
			"eightbyte",
			`{"id":"cb54ecf284000000","mode":"SPREAD","unix_ms":143062936275,"sequence":0,` +
				`"generator_id":0,"cluster_id":0}`,
			"cb54ecf284000000",
		},
		{
			"eightbyte", `{"mode":"SPREAD","unix_ms":0,"sequence":0,"generator_id":0,` +
				`"cluster_id":0}`,
			"zero means not assigned",
		},
		{
			"eightbyte", `{"unix_ms":0,"sequence":0,"generator_id":0,"cluster_id":1}`,
			"want the fields mode, unix_ms, sequence, generator_id and cluster_id",
		},
		{
			"eightbyte", `{"mode":null,"unix_ms":0,"sequence":0,"generator_id":0,"cluster_id":1}`,
			"want the fields mode",
		},
		{
			"eightbyte", `{"mode":"spread","unix_ms":1,"sequence":0,"generator_id":0,` +
				`"cluster_id":0}`,
			"want SPREAD or TIME_SEQUENTIAL",
		},
		{
			"eightbyte", `{"mode":0,"unix_ms":1,"sequence":0,"generator_id":0,"cluster_id":0}`,
			"mode: want a string, not 0",
		},
		{
			"eightbyte",
			`{"mode":"SPREAD","unix_ms":"1","sequence":0,"generator_id":0,"cluster_id":0}`,
			`unix_ms: want an integer, not "1"`,
		},
		{
			"eightbyte", `{"mode":"SPREAD","unix_ms":1,"sequence":64,"generator_id":0,` +
				`"cluster_id":0}`,
			"sequence 64 is outside 0..63",
		},
		{"short", `{"unix_ms":1562179504129,"sequence":270,"random":98}`, "xinaS8QBh"},
		{
			"short",
			`{"id":"11093174944930914","text":"xinaS8QBh","unix_ms":1562179504129,"sequence":270,` +
				`"random":98}`,
			"xinaS8QBh",
		},
		{
			"short", `{"id":11093174944930914,"unix_ms":1562179504129,"sequence":270,"random":98}`,
			"xinaS8QBh",
		},
		{
			"short", `{"id":"xinaS8QBh","unix_ms":1562179504129,"sequence":270,"random":98}`,
			`the id is "xinaS8QBh", but the other fields are those of 11093174944930914`,
		},
		{
			"short", `{"text":"yinaS8QBh","unix_ms":1562179504129,"sequence":270,"random":98}`,
			`the text is "yinaS8QBh", but the other fields are those of xinaS8QBh`,
		},
		{
			"short", `{"unix_ms":1519862399999,"sequence":270,"random":98}`,
			"unix_ms 1519862399999 is outside",
		},
		{
			"sno",
			`{"unix_ms":1703587783960,"tick_tock":1,"meta":158,"partition":34824,"sequence":56450}`,
			"8fhmi7mfls62jp64",
		},
		// of the same 4 ms
		{
			"sno",
			`{"unix_ms":1703587783963,"tick_tock":1,"meta":158,"partition":34824,"sequence":56450}`,
			"8fhmi7mfls62jp64",
		},
		{
			"sno",
			`{"hex":"335f48168d9e8808dc83","unix_ms":1703587783960,"tick_tock":1,"meta":158,` +
				`"partition":34824,"sequence":56450}`,
			"the hex is",
		},
		{
			"sno",
			`{"unix_ms":1703587783960,"tick_tock":true,"meta":158,"partition":34824,` +
				`"sequence":56450}`,
			"tick_tock: want an integer, not true",
		},
		{
			"sno",
			`{"unix_ms":1703587783960,"tick_tock":2,"meta":158,"partition":34824,"sequence":56450}`,
			"tick_tock 2 is outside 0..1",
		},
		{"sequence", `{"id":"57"}`, "57"},
		{"sequence", `{"scheme":"sequence","id":9223372036854775807}`, "9223372036854775807"},
		{"sequence", `{}`, "want the field id"},
		{"sequence", `{"id":"0"}`, "zero means not assigned"},
		{"sequence", `{"id":"057"}`, `"\"057\"" as SequenceID`},
		{"sequence", `{"id":"57","counter":1}`, `unknown field "counter"`},
	} {
		got := s.feed(test.fields+"\n", "compose", "--scheme", test.scheme)
		if strings.Contains(test.want, " ") {
			if got.status != 1 || got.stdout != "" || !strings.Contains(got.stderr, test.want) ||
				strings.Count(got.stderr, "\n") != 1 {
				t.Errorf("%s %s: %v; want %q", test.scheme, test.fields, got, test.want)
			}
		} else if got.status != 0 || got.stdout != test.want+"\n" || got.stderr != "" {
			t.Errorf("%s %s: %v; want %s", test.scheme, test.fields, got, test.want)
		}
	}
}
