package storesuite

import (
	"fmt"
	"strings"
	"testing"
)

// BeginsWith holds that an error begins with the name of the store's package, and has it once.
func BeginsWith(t *testing.T, err error, name string) {
	t.Helper()
	text := fmt.Sprint(err)
	rest, ok := strings.CutPrefix(text, name)
	if !ok || strings.Contains(rest, "launchlog:") || strings.Contains(rest, "launchlog/") {
		t.Errorf("%q, want %q in front, once", text, name)
	}
}
