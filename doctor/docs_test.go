package doctor_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/idmint/idmint/doctor"
)

// The table of docs/doctor.md has the checks, with the words of the code.
func TestDocs(t *testing.T) {
	text, err := os.ReadFile("../docs/doctor.md")
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	table.WriteString("\n| check | what must be | what to do otherwise |\n|---|---|---|\n")
	for _, c := range doctor.Checks() {
		fmt.Fprintf(&table, "| `%s` | %s | %s |\n", c.Code, c.Looks, c.Remedy)
	}
	if !strings.HasSuffix(string(text), table.String()) {
		t.Errorf("docs/doctor.md does not end with:\n%s", table.String())
	}
}
