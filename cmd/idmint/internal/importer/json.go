package importer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"unicode/utf8"
)

// jsonRecords reads the columns from the first object, in its order. Later objects may lack some,
// which are then NULL, but must not have others.
type jsonRecords struct {
	lines
	names  []string
	known  map[string]bool   // the names; nil until the first object has been read
	values map[string][]byte // of the last object; nil is NULL
	first  bool              // values are those of the first object, and not yet returned
}

func openJSON(l lines) (*jsonRecords, error) {
	j := &jsonRecords{lines: l, values: map[string][]byte{}, first: true}
	err := j.next()
	if err == nil && len(j.names) == 0 {
		err = &RecordError{1, "an object without names"}
	}
	j.known = map[string]bool{}
	for _, name := range j.names {
		j.known[name] = true
	}
	return j, err
}

func (j *jsonRecords) columns() []string { return j.names }

func (j *jsonRecords) read(into *block) error {
	if !j.first {
		if err := j.next(); err != nil {
			return err
		}
	}
	j.first = false
	for _, name := range j.names {
		if text := j.values[name]; text != nil {
			into.add(text)
		} else {
			into.addNull()
		}
	}
	return nil
}

// next reads the values of the next object as text: strings unquoted, null as nil, and other values
// as JSON.
func (j *jsonRecords) next() error {
	line, err := j.record(false)
	if err != nil {
		return err
	}
	fail := func(format string, args ...any) error {
		return &RecordError{j.begun, fmt.Sprintf(format, args...)}
	}
	switch { // as in badText
	case !utf8.Valid(line):
		return fail("the line is not UTF-8")
	case bytes.IndexByte(line, 0) >= 0:
		return fail("the line has a NUL byte")
	}
	clear(j.values)
	d := json.NewDecoder(bytes.NewReader(line))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return fail("not a JSON object")
	}
	for d.More() {
		before := d.InputOffset()
		token, err := d.Token()
		if err != nil {
			return fail("%v", err)
		}
		name := token.(string)
		_, twice := j.values[name]
		half := loneSurrogate(line[before:d.InputOffset()])
		switch {
		case half != "":
			return fail("the name %s has %s, which is half a character", quoted(name), half)
		case twice:
			return fail("%s occurs twice", quoted(name))
		case j.known == nil && len(j.names) == maxFields:
			return fail("%v", errFields)
		case j.known == nil:
			j.names = append(j.names, name)
		case !j.known[name]:
			return fail("%s is not among the names of the first line", quoted(name))
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return fail("%v", err)
		}
		if half := loneSurrogate(raw); half != "" && raw[0] == '"' {
			return fail("%s has %s, which is half a character", quoted(name), half)
		}
		if j.values[name], err = text(raw); err != nil {
			return fail("%v", err)
		}
	}
	if _, err := d.Token(); err != nil {
		return fail("not a whole JSON object")
	}
	if _, err := d.Token(); err != io.EOF {
		return fail("more than one JSON object")
	}
	return nil
}

// text returns a JSON value as text, which is nil only for null.
func text(raw json.RawMessage) ([]byte, error) {
	switch raw[0] {
	case 'n':
		return nil, nil
	case '"':
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return nil, err
		}
		if reason := badText(s); reason != "" { // \u0000
			return nil, fmt.Errorf("a text %s", reason)
		}
		return append([]byte{}, s...), nil
	default:
		var b bytes.Buffer
		err := json.Compact(&b, raw)
		return b.Bytes(), err
	}
}

// escapes matches an escape of JSON: a pair of surrogates, a lone one, or another escape
var escapes = regexp.MustCompile(`\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(u[dD][89a-fA-F]..)|.)`)

// loneSurrogate finds an escape such as \ud800 without its other half, and returns "" if there is
// none. encoding/json would replace it by another character. Strings in raw must be complete.
func loneSurrogate(raw []byte) string {
	if !bytes.Contains(raw, []byte(`\u`)) {
		return ""
	}
	for _, escape := range escapes.FindAllSubmatch(raw, -1) {
		if escape[1] != nil {
			return string(escape[0])
		}
	}
	return ""
}
