package site_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The commands of docs/deploy-recipes.md build the program that the page speaks of.
func TestDeployCommands(t *testing.T) {
	t.Parallel()
	dir := copied(t)
	for _, block := range blocks(t, "docs/deploy-recipes.md", "sh") {
		if said := sh(t, dir, block); !strings.Contains(said, "launch_id (65)") {
			t.Fatalf("%s said\n%s", block, said)
		}
	}
	const million = 1_000_000
	info, err := os.Stat(filepath.Join(dir, "idmint"))
	check(t, err)
	says := fmt.Sprintf("and has %d MB", (info.Size()+million/2)/million)
	if !strings.Contains(read(t, "docs/deploy-recipes.md"), says) {
		t.Errorf("the page does not say that the program %q", says)
	}
}

// The page names every recipe.
func TestDeployPage(t *testing.T) {
	t.Parallel()
	page := read(t, "docs/deploy-recipes.md")
	recipes, err := filepath.Glob("deploy/*/*")
	check(t, err)
	if len(recipes) < 11 {
		t.Errorf("recipes: %q", recipes)
	}
	for _, recipe := range append(recipes, "deploy/gitlab/.gitlab-ci.yml", "deploy/Dockerfile") {
		if !strings.Contains(page, "](../"+recipe+")") {
			t.Errorf("the page does not name %s", recipe)
		}
	}
}
