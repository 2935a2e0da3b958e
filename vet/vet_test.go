package vet_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/idmint/idmint/vet"
)

func TestAnalyzer(t *testing.T) { analysistest.Run(t, analysistest.TestData(), vet.Analyzer, "./app") }

// TestVettool runs the program as go vet does. docs/move/gorm-apps.md shows what it finds.
func TestVettool(t *testing.T) {
	tool := filepath.Join(t.TempDir(), "idmintvet")
	if out, err := exec.Command("go", "build", "-o", tool, "./cmd/idmintvet").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd := exec.Command("go", "vet", "-vettool="+tool, "./app")
	cmd.Dir = "testdata"
	cmd.Env = append(cmd.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod", "GOPROXY=off")
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatalf("nothing is found: %s", out)
	}
	page, err := os.ReadFile("../docs/move/gorm-apps.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile(`(?m)^app/app\.go:.*\n`).FindAllString(string(page), -1)
	for _, line := range shown {
		if !strings.Contains(string(out), line) {
			t.Errorf("%s lacks %s", out, line)
		}
	}
	if len(shown) < 4 {
		t.Errorf("the page shows %d lines", len(shown))
	}
}
