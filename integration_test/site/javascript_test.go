package site_test

import (
	"bytes"
	"os/exec"
	"testing"
)

// The decoder's own tests hold it against docs/design/vectors, as package idtype's do.
func TestJavaScriptVectors(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is missing: install Debian's package nodejs")
	}
	cmd := exec.CommandContext(t.Context(), node, "--test", "--test-reporter=tap", "idmint.test.js")
	cmd.Dir = "docs/design/js"
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("\n# fail 0\n")) ||
		!bytes.Contains(out, []byte("sno: valid")) {
		t.Fatalf("%v\n%s", err, out)
	}
}
