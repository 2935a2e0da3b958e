package launchlog_test

import (
	"testing"

	"github.com/idmint/idmint/launchlog"
)

// An error shows what it is about as it was given. Only what is not seen is escaped, and where it
// ends is plain.
func TestErrorsQuote(t *testing.T) {
	for value, want := range map[string]string{
		`{"a": 1`:      "`{\"a\": 1`",
		`plain`:        `"plain"`,
		"a\"b`c":       `"a\"b` + "`" + `c"`,
		"a\"\u202eb":   `"a\"\u202eb"`,
		"a\"\tb":       `"a\"\tb"`,
		"a\"\u00a0b":   `"a\"\u00a0b"`,
		`back\slash"`:  "`back\\slash\"`",
		"line\n\"next": `"line\n\"next"`,
	} {
		err := &launchlog.RequestError{Field: "data", Value: value, Reason: "is bad"}
		if got := err.Error(); got != "launchlog: data "+want+" is bad" {
			t.Errorf("%q: %s, want %s", value, got, want)
		}
	}
}
