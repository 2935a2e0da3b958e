package readme

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idmint/idmint/integration_test/internal/checkout"
)

// The commands of docs/deploy-recipes.md build the program that the page speaks of.
func TestDeployCommands(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "idmint")
	if err := checkout.Copy(dir); err != nil {
		t.Fatal(err)
	}
	for _, block := range blocks(t, "docs/deploy-recipes.md", "sh") {
		cmd := exec.Command("bash", "-euo", "pipefail", "-c", block)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "launch_id (65)") {
			t.Fatalf("%s%v\n%s", block, err, out)
		}
	}
	const million = 1_000_000
	info, err := os.Stat(filepath.Join(dir, "idmint"))
	if err != nil {
		t.Fatal(err)
	}
	says := fmt.Sprintf("and has %d MB", (info.Size()+million/2)/million)
	if !strings.Contains(read(t, "docs/deploy-recipes.md"), says) {
		t.Errorf("the page does not say that the program %q", says)
	}
}

// The page names every recipe.
func TestDeployPage(t *testing.T) {
	page := read(t, "docs/deploy-recipes.md")
	recipes, err := filepath.Glob("deploy/*/*")
	if err != nil {
		t.Fatal(err)
	}
	if len(recipes) < 11 {
		t.Errorf("recipes: %q", recipes)
	}
	for _, recipe := range append(recipes, "deploy/gitlab/.gitlab-ci.yml", "deploy/Dockerfile") {
		if !strings.Contains(page, "](../"+recipe+")") {
			t.Errorf("the page does not name %s", recipe)
		}
	}
}
