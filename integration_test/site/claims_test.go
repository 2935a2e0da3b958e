package site_test

import (
	"regexp"
	"strings"
	"testing"
)

// The program of docs/claims.md runs as the page says, and takes the number again that it had.
func TestClaimsCommands(t *testing.T) {
	t.Parallel()
	dir := copied(t)
	numbers := ""
	for range 2 {
		for _, block := range blocks(t, "docs/claims.md", "sh") {
			said := sh(t, dir, block)
			found := regexp.MustCompile(`(?m)^[0-9a-f]{16} of pair (0/[0-3])$`).FindStringSubmatch(said)
			if found == nil || !strings.Contains(said, "eightbyte "+found[1]+" taken") {
				t.Fatalf("%s said\n%s", block, said)
			}
			numbers += found[1] + " "
		}
	}
	if first, second, _ := strings.Cut(strings.TrimSpace(numbers), " "); first != second {
		t.Errorf("pairs %s", numbers)
	}
}
