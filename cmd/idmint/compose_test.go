package main

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestCompose(t *testing.T) {
	s := newShell(t)
	for fields, want := range map[string]string{
		`{"counter":1415,"generator_id":92,"launch_id":65}`:                                          "14150009200065",
		`{"launch_id":65,"scheme":"decimal","id":"14150009200065","counter":1415,"generator_id":92}`: "14150009200065",
		`  { "counter" : 1, "generator_id" : 0, "launch_id" : 0 }  `:                                 "10000000000",
		`{"counter":922337202,"generator_id":99999,"launch_id":99999}`:                               "9223372029999999999",
		`{"id":9223372029999999999,"counter":922337202,"generator_id":99999,"launch_id":99999}`:      "9223372029999999999", // every digit counts
		`{"id":null,"scheme":null,"counter":1,"generator_id":0,"launch_id":1}`:                       "10000000001",
	} {
		if got := s.must("compose", "--scheme", "decimal", fields); got != want+"\n" {
			t.Errorf("%s: %q, want %s", fields, got, want)
		}
	}
}

func TestComposeBadInput(t *testing.T) {
	s := newShell(t)
	for _, test := range []struct{ fields, want string }{
		{``, "want a JSON object"},
		{` `, "want a JSON object"},
		{`null`, "want the fields counter, generator_id and launch_id"},
		{`{}`, "want the fields counter, generator_id and launch_id"},
		{`{"counter":1,"launch_id":1}`, "want the fields counter, generator_id and launch_id"},
		{`{"counter":1,"generator_id":null,"launch_id":1}`, "want the fields counter, generator_id and launch_id"},
		{`[]`, "want a JSON object"},
		{`"14150009200065"`, "want a JSON object"},
		{`14150009200065`, "want a JSON object"},
		{`x`, "invalid character"},
		{`{`, "unexpected EOF"},
		{`{"counter":1,"generator_id":2,"launch_id":3`, "unexpected EOF"},
		{`{"counter":1,"generator_id":2,"launch_id":3,}`, "invalid character"},
		{`{"counter":1,"generator_id":2,"launch_id":3,"node":4}`, `unknown field "node"`},
		{`{"counter":"1","generator_id":2,"launch_id":3}`, "counter: want an integer, not string"},
		{`{"counter":1,"generator_id":2.5,"launch_id":3}`, "generator_id: want an integer, not number 2.5"},
		{`{"counter":1e3,"generator_id":2,"launch_id":3}`, "counter: want an integer, not number 1e3"},
		{`{"counter":1,"generator_id":2,"launch_id":true}`, "launch_id: want an integer, not bool"},
		{`{"counter":1,"generator_id":2,"launch_id":[3]}`, "launch_id: want an integer, not array"},
		{`{"counter":99999999999999999999,"generator_id":2,"launch_id":3}`, "counter: want an integer"},
		{`{"counter":0,"generator_id":2,"launch_id":3}`, "counter 0 is outside 1..922337202"},
		{`{"counter":-1,"generator_id":2,"launch_id":3}`, "counter -1 is outside"},
		{`{"counter":922337203,"generator_id":2,"launch_id":3}`, "counter 922337203 is outside"},
		{`{"counter":1,"generator_id":100000,"launch_id":3}`, "generator_id 100000 is outside 0..99999"},
		{`{"counter":1,"generator_id":2,"launch_id":100000}`, "launch_id 100000 is outside 0..99999"},
		{`{"counter":1,"generator_id":2,"launch_id":-3}`, "launch_id -3 is outside"},
		{`{"counter":1,"generator_id":2,"launch_id":3} {"counter":1,"generator_id":2,"launch_id":3}`, "want one JSON object"},
		{`{"counter":1,"generator_id":2,"launch_id":3}x`, "want one JSON object"},
		{`{"counter":1,"generator_id":2,"launch_id":3,"scheme":"trace"}`, `the scheme is "trace"`},
		{`{"counter":1,"generator_id":2,"launch_id":3,"scheme":7}`, "scheme: want a string, not number"},
		{`{"counter":1,"generator_id":2,"launch_id":3,"id":"10000200004"}`, "the id is 10000200004, but the other fields are those of 10000200003"},
		{`{"counter":1,"generator_id":2,"launch_id":3,"id":10000200004}`, "the id is 10000200004"},
		{`{"counter":1,"generator_id":2,"launch_id":3,"id":"x"}`, "as DecimalID"},
		{`{"counter":1,"generator_id":2,"launch_id":3,"id":1.5}`, `1.5`},
	} {
		good := `{"counter":1415,"generator_id":92,"launch_id":65}` + "\n"
		got := s.feed(good+test.fields+"\n"+good, "compose", "--scheme", "decimal")
		if got.stdout != "14150009200065\n14150009200065\n" || got.status != 1 {
			t.Errorf("%s: the others are not answered: %v", test.fields, got)
		}
		if !strings.HasPrefix(got.stderr, "idmint: ") || !strings.Contains(got.stderr, test.want) || strings.Count(got.stderr, "\n") != 1 || strings.Contains(got.stderr, "struct") {
			t.Errorf("%s: stderr %q, want %q", test.fields, got.stderr, test.want)
		}
		got = s.feed(test.fields+"\n", "compose", "--scheme", "decimal", "--json")
		var refusal struct{ Input, Error string }
		if err := json.Unmarshal([]byte(got.stdout), &refusal); err != nil || got.status != 1 || refusal.Input != test.fields || !strings.Contains(refusal.Error, test.want) {
			t.Errorf("%s as JSON: %v, %v", test.fields, got, err)
		}
	}
	// A megabyte of rubbish is an error of a line.
	got := s.feed(strings.Repeat("x", 1<<20)+"\n", "compose", "--scheme", "decimal")
	if got.status != 1 || len(got.stderr) > 600 {
		t.Errorf("1 MB: %v", got)
	}
}
