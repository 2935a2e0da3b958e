package site_test

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// The runbook of docs/restore.md is run after a restore that lost a launch and numbers of a counter.
// Nothing comes twice.
func TestRestoreRunbook(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	steps := regexp.MustCompile("(?ms)^   ```sh\n(.*?)^   ```$").FindAllStringSubmatch(
		read(t, "docs/restore.md"), -1)
	if len(steps) != 2 {
		t.Fatalf("docs/restore.md has %d steps with commands", len(steps))
	}
	sh := func(script string) string {
		t.Helper()
		cmd := exec.Command("bash", "-euo", "pipefail", "-c", script)
		cmd.Dir = dir
		cmd.Env = withIdmint(t, "IDMINT_DB=sqlite:restored.db")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s", script, err, out)
		}
		return string(out)
	}
	const start = "idmint launch start --service shop --env production --initiator ann --key "
	sh("idmint migrate; " + start + "first; idmint new sequence --counter orders -n 3")
	sh("idmint backup --to backup.db")
	if got := sh(start + "second; idmint new sequence --counter orders"); got != "2\n4\n" {
		t.Fatalf("before the restore: %q", got)
	}
	sh("rm restored.db*; mv backup.db restored.db")
	if got := sh(steps[0][1]); strings.Count(got, "counter orders  3     1000000") != 2 {
		t.Errorf("advance said\n%s", got)
	}
	if got := sh(steps[1][1]); !strings.HasPrefix(got, "71\n") ||
		!strings.Contains(got, " 0 findings\n") {
		t.Errorf("the new launch is\n%s", got)
	}
	if got := sh("idmint new sequence --counter orders"); got != "1000001\n" {
		t.Errorf("the next order is %s", got)
	}
	if got := sh("idmint launch list --running"); strings.Count(got, "running") != 1 {
		t.Errorf("launches of before run on:\n%s", got)
	}
}
