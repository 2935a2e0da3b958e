package importer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"unicode/utf8"
)

// jsonRecords takes the columns from the first object, in its order. Later objects may lack some,
// which are NULL then, but have no others.
type jsonRecords struct {
	lines
	names  []string
	index  map[string]int
	values []jsonValue // of the object that is read, one for each name
	first  bool        // values are those of the first object, which is to be read
}

// A jsonValue is a member's. Without text it is NULL.
type jsonValue struct {
	text []byte
	seen bool
}

func openJSON(l lines) (*jsonRecords, error) {
	j := &jsonRecords{lines: l, index: map[string]int{}, first: true}
	line, err := j.record(false)
	if err != nil {
		return nil, err
	}
	err = j.decode(line, func(name string, text []byte) error {
		switch _, ok := j.index[name]; {
		case ok:
			return fmt.Errorf("%s is there twice", quoted(name))
		case len(j.names) == maxFields:
			return fmt.Errorf("more than %d fields", maxFields)
		}
		j.index[name] = len(j.names)
		j.names = append(j.names, name)
		j.values = append(j.values, jsonValue{text, true})
		return nil
	})
	if err == nil && len(j.names) == 0 {
		err = &RecordError{1, "an object without names"}
	}
	return j, err
}

func (j *jsonRecords) columns() []string { return j.names }

func (j *jsonRecords) read(into *block) error {
	if !j.first {
		if err := j.parse(); err != nil {
			return err
		}
	}
	j.first = false
	for _, v := range j.values {
		if v.text == nil {
			into.addNull()
		} else {
			into.add(v.text)
		}
	}
	return nil
}

// parse reads the values of the next object.
func (j *jsonRecords) parse() error {
	line, err := j.record(false)
	if err != nil {
		return err
	}
	clear(j.values)
	return j.decode(line, func(name string, text []byte) error {
		i, ok := j.index[name]
		switch {
		case !ok:
			return fmt.Errorf("%s is not among the names of the first line", quoted(name))
		case j.values[i].seen:
			return fmt.Errorf("%s is there twice", quoted(name))
		}
		j.values[i] = jsonValue{text, true}
		return nil
	})
}

// decode hands over the members of one object, values as text: strings as they are, others as JSON,
// null as nil.
func (j *jsonRecords) decode(line []byte, member func(name string, text []byte) error) error {
	fail := func(format string, args ...any) error {
		return &RecordError{j.begun, fmt.Sprintf(format, args...)}
	}
	switch { // as badText
	case !utf8.Valid(line):
		return fail("the line is not UTF-8")
	case bytes.IndexByte(line, 0) >= 0:
		return fail("the line has a NUL byte")
	}
	d := json.NewDecoder(bytes.NewReader(line))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return fail("not a JSON object")
	}
	for d.More() {
		before := d.InputOffset()
		name, err := d.Token()
		if err != nil {
			return fail("%v", err)
		}
		if half := loneSurrogate(line[before:d.InputOffset()]); half != "" {
			return fail("the name %s has %s, half a character", quoted(name.(string)), half)
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return fail("%v", err)
		}
		if half := loneSurrogate(raw); half != "" && raw[0] == '"' {
			return fail("%s has %s, half a character", quoted(name.(string)), half)
		}
		value, err := text(raw)
		if err == nil {
			err = member(name.(string), value)
		}
		if err != nil {
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

// text is a value as text, which is nil for null alone.
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

// escapes of JSON: a pair of surrogates, one alone, or another
var escapes = regexp.MustCompile(`\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(u[dD][89a-fA-F]..)|.)`)

// loneSurrogate finds an escape such as \ud800 without its other half, "" where there is none.
// encoding/json would put another character in its place. The text has no strings that are cut off.
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
