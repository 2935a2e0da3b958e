package main

import (
	"fmt"
	"strings"
	"testing"
)

const testKey = "00112233445566778899aabbccddeeff"

// The scrambled forms were computed elsewhere, by what package scramble says of its mapping.
var scrambledForms = []struct{ args, id, scrambled string }{
	{"", "57", "2220728144478142203"},
	{"", "14150009200065", "385428725634040878"},
	{"--scheme decimal", "14150009200065", "385428725634040878"},
	{"--scheme trace --domain 63 --method network", "14150009200065", "385428725634040878"},
	{"", "9223372036854775807", "2499241871105917537"},
	{"--method multiplicative", "57", "5847324799670643663"},
	{"--method multiplicative", "14150009200065", "2274613975876854735"},
	{"--domain 53", "57", "3250790604612717"},
	{"--domain 53 --method multiplicative", "14150009200065", "2704128784812234"},
	{"--domain 53", "9007199254740991", "290295158790475"},
	{"--scheme short", "xinaS8QBh", "kODMxXprOCW"},
}

func TestScramble(t *testing.T) {
	s := inside(t)
	s.env = append(s.env, keyVariable+"="+testKey)
	for _, test := range scrambledForms {
		args := strings.Fields(test.args)
		if got := s.must(append([]string{"scramble", test.id}, args...)...); got != test.scrambled+
			"\n" {
			t.Errorf("scramble %s %s: %q, want %s", test.args, test.id, got, test.scrambled)
		}
		got := s.must(append([]string{"unscramble", test.scrambled}, args...)...)
		if got != test.id+"\n" {
			t.Errorf("unscramble %s %s: %q, want %s", test.args, test.scrambled, got, test.id)
		}
		want := fmt.Sprintf(`{"id":%q,"scrambled":%q}`+"\n", test.id, test.scrambled)
		for command, input := range map[string]string{
			"scramble":   test.id,
			"unscramble": test.scrambled,
		} {
			if got := s.must(append([]string{command, "--json", input}, args...)...); got != want {
				t.Errorf("%s --json %s %s: %q, want %s", command, test.args, input, got, want)
			}
		}
	}
	// --key is stronger than the environment.
	s.env = append(s.env, keyVariable+"=x")
	if got := s.must("scramble", "57", "--key", testKey); got != "2220728144478142203\n" {
		t.Errorf("%q", got)
	}
	got := s.must("scramble", "57", "--key", "ffeeddccbbaa99887766554433221100")
	if got == "2220728144478142203\n" {
		t.Error("another key, and the same scrambled form")
	}
}

// A line that is refused is one among the others.
func TestScrambleBadInput(t *testing.T) {
	s := inside(t)
	s.env = append(s.env, keyVariable+"="+testKey)
	for _, test := range []struct{ command, input, want string }{
		{"scramble", "", "not a plain decimal number"},
		{"scramble", "x", "not a plain decimal number"},
		{"scramble", "0", "zero means not assigned"},
		{"scramble", "057", "not a plain decimal number"},
		{"scramble", " 57", "not a plain decimal number"},
		{"scramble", "9223372036854775808", "above the largest ID"},
		{"scramble --scheme decimal", "57", "counter 0 is outside"},
		{"scramble --scheme trace", "4194304", "bottom 0 is outside"},
		{
			"scramble --domain 53", "9007199254740992",
			"9007199254740992 is outside 1..9007199254740991",
		},
		{"unscramble", "0", "zero means not assigned"},
		{
			"unscramble --domain 53", "9007199254740992",
			"9007199254740992 is outside 1..9007199254740991",
		},
		{"unscramble --scheme short", "naS8QBhxi!", "not a short ID's text"},
		{"unscramble --scheme short", "C", "C is not the scrambled form of an ID, with this key"},
	} {
		good, answer := "57", "2220728144478142203"
		args := strings.Fields(test.command)
		if strings.HasPrefix(test.command, "unscramble") {
			good, answer = answer, good
		}
		if len(args) > 1 { // another permutation, or layout
			got := s.feed(test.input+"\n", args...)
			if got.status != 1 || got.stdout != "" || !strings.Contains(got.stderr, test.want) ||
				strings.Count(got.stderr, "\n") != 1 {
				t.Errorf("%s %q: %v", test.command, test.input, got)
			}
			continue
		}
		got := s.feed(good+"\n"+test.input+"\n"+good+"\n", args...)
		if got.status != 1 || got.stdout != answer+"\n"+answer+"\n" ||
			!strings.Contains(got.stderr, test.want) || strings.Count(got.stderr, "\n") != 1 {
			t.Errorf("%s %q: %v", test.command, test.input, got)
		}
		got = s.feed(test.input+"\n", append(args, "--json")...)
		if got.status != 1 || got.stderr != "" ||
			!strings.HasPrefix(got.stdout, fmt.Sprintf(`{"input":%q,"error":`, test.input)) {
			t.Errorf("%s %q: %v", test.command, test.input, got)
		}
	}
}
