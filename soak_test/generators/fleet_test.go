// Package generators_test runs the simulation of fleets that claim their numbers for long.
package generators_test

import (
	"os/exec"
	"testing"
)

// TestWholeFleet runs 10,000 of the simulated fleets of package claims, whose own test runs some.
func TestWholeFleet(t *testing.T) {
	cmd := exec.Command("go", "test", "-v", "-timeout=60m", "-run=^TestWholeFleet$",
		"github.com/idmint/idmint/claims", "-fleet.seeds=10000")
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
}
