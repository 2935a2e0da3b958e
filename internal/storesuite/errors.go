package storesuite

import (
	"fmt"
	"strings"
	"testing"
)

// BeginsWith holds that an error begins with the name of the store's package.
func BeginsWith(t *testing.T, err error, name string) {
	t.Helper()
	if !strings.HasPrefix(fmt.Sprint(err), name) {
		t.Errorf("%v, want %q in front", err, name)
	}
}
