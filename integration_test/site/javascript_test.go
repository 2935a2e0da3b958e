package site_test

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"reflect"
	"strings"
	"testing"
)

// node is the command that runs a program.
func node(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	path, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is missing: install Debian's package nodejs")
	}
	return exec.CommandContext(t.Context(), path, args...)
}

// The decoder's own tests hold it against docs/design/vectors.
func TestJavaScriptVectors(t *testing.T) {
	t.Parallel()
	cmd := node(t, "--test", "--test-reporter=tap", "idmint.test.js")
	cmd.Dir = "docs/design/js"
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("\n# fail 0\n")) ||
		!bytes.Contains(out, []byte("sno: valid")) {
		t.Fatalf("%v\n%s", err, out)
	}
}

// A question is what answer.mjs is asked.
type question struct {
	Op     string          `json:"op"`
	Scheme string          `json:"scheme,omitempty"`
	Text   string          `json:"text"`
	Form   string          `json:"form,omitempty"`
	Now    int64           `json:"now"`
	Parts  json.RawMessage `json:"parts,omitempty"`
	Layout string          `json:"layout,omitempty"`
	From   int64           `json:"from"`
	To     int64           `json:"to"`
	Kind   string          `json:"kind,omitempty"`
	Bits   int             `json:"bits,omitempty"`
	Key    string          `json:"key,omitempty"`
}

// An answer has what the question's op gives, or an error. Times are milliseconds of Unix time.
type answer struct {
	ID     string      `json:"id,omitempty"`
	Texts  []string    `json:"texts,omitempty"` // by the scheme's forms
	Valid  []bool      `json:"valid,omitempty"` // by the layout, and by the former ones
	Parts  string      `json:"parts,omitempty"`
	Times  []int64     `json:"times,omitempty"`
	Fits   []string    `json:"fits,omitempty"`
	Ranges [][2]string `json:"ranges,omitempty"`
	IDs    []string    `json:"ids,omitempty"`
	Error  string      `json:"error,omitempty"`
}

// refused is what an answer is compared with that is some error.
var refused = answer{Error: "refused"}

// A talk is questions and what their answers must be.
type talk struct {
	questions []question
	want      []answer
}

func (k *talk) add(q question, want answer) {
	k.questions, k.want = append(k.questions, q), append(k.want, want)
}

// compare asks all questions of one process.
func (k *talk) compare(t *testing.T) {
	t.Helper()
	var in, out, errs bytes.Buffer
	e := json.NewEncoder(&in)
	for _, q := range k.questions {
		if err := e.Encode(q); err != nil {
			t.Fatal(err)
		}
	}
	cmd := node(t, "integration_test/site/answer.mjs")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &in, &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, errs.String())
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != len(k.questions) {
		t.Fatalf("%d answers to %d questions\n%s", len(lines), len(k.questions), errs.String())
	}
	refusals, wrong := 0, 0
	for i, line := range lines {
		var got answer
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if strings.HasPrefix(got.Error, "idmint: ") {
			got = refused
			refusals++
		}
		if len(got.Times) == 0 {
			got.Times = nil
		}
		if !reflect.DeepEqual(got, k.want[i]) {
			if wrong++; wrong <= 10 {
				t.Errorf("%+v:\n%s\nwant %+v", k.questions[i], line, k.want[i])
			}
		}
	}
	t.Logf("%d answers, %d of them refusals, %d wrong", len(lines), refusals, wrong)
	if refusals == 0 || refusals == len(lines) {
		t.Errorf("%d of %d are refusals", refusals, len(lines))
	}
}
