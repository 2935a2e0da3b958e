// Package gormmatrix_test runs the matrix of integration_test/gorm with keys of every scheme and
// form, on every database, in each way in which GORM talks to it.
package gormmatrix_test

import (
	"os/exec"
	"strings"
	"testing"
)

func TestMatrix(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "test", "-v", "-count=1", "-timeout=0",
		"-run=^TestMatrix", "github.com/idmint/idmint/integration_test/gorm", "-args", "-whole").
		CombinedOutput()
	switch {
	case err != nil:
		t.Fatalf("%v\n%s", err, out)
	case strings.Contains(string(out), "--- SKIP"):
		t.Skipf("%s", out)
	case !strings.Contains(string(out), "--- PASS: TestMatrix/MariaDB"):
		t.Errorf("not the whole matrix:\n%s", out)
	}
}
