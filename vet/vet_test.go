package vet_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/idmint/idmint/vet"
)

func TestAnalyzer(t *testing.T) { analysistest.Run(t, analysistest.TestData(), vet.Analyzer, "./app") }

// TestVettool runs the program as go vet does.
func TestVettool(t *testing.T) {
	tool := filepath.Join(t.TempDir(), "idmintvet")
	if out, err := exec.Command("go", "build", "-o", tool, "./cmd/idmintvet").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd := exec.Command("go", "vet", "-vettool="+tool, "./app")
	cmd.Dir = "testdata"
	cmd.Env = append(cmd.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod", "GOPROXY=off")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "int32 does not hold an ID") {
		t.Fatalf("%v: %s", err, out)
	}
}
