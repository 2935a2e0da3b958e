package functions_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/idmint/idmint/sqlid/functions"
)

func TestUnknownDialect(t *testing.T) {
	for _, d := range []functions.Dialect{"sqlite", "oracle"} {
		_, err := functions.Statements(d)
		for _, err := range []error{err, functions.Install(t.Context(), nil, d)} {
			var e *functions.DialectError
			if !errors.As(err, &e) || e.Dialect != d || !strings.Contains(err.Error(), string(d)) {
				t.Errorf("%s: %v", d, err)
			}
		}
	}
}
