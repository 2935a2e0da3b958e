package browser

import (
	"os"
	"strings"
	"sync"
	"testing"
)

// axe is the program axe-core.
var axe = sync.OnceValues(func() (string, error) {
	text, err := os.ReadFile(os.Getenv("IDMINT_AXE"))
	return string(text), err
})

// checked reports whether axe-core looks at a page in this look: once wide and light, once narrow
// and dark. It takes most of these tests' time.
func (l look) checked() bool { return l == looks[0] || l == looks[3] }

// A violation is a rule of axe-core, and where a page breaks it.
type violation struct {
	ID    string `json:"id"`
	Help  string `json:"help"`
	Nodes []struct {
		HTML    string `json:"html"`
		Summary string `json:"failureSummary"`
	} `json:"nodes"`
}

// accessible fails where axe-core finds what keeps people from reading the page.
func (b *tab) accessible() {
	b.Helper()
	for _, v := range b.violations() {
		for i, node := range v.Nodes {
			if i == 3 {
				b.Errorf("%s: and %d more", v.ID, len(v.Nodes)-3)
				break
			}
			b.Errorf("%s: %s\n%s\n%s", v.ID, v.Help, node.HTML, node.Summary)
		}
	}
}

// violations are what axe-core finds. What it is not sure of is none.
func (b *tab) violations() []violation {
	b.Helper()
	program, err := axe()
	if err != nil {
		b.Skip("IDMINT_AXE names no axe-core: scripts/browser fetches it")
	}
	eval[bool](b, program+"\n;true")
	result := eval[struct {
		Violations []violation `json:"violations"`
		Passes     int         `json:"passes"`
	}](b, `axe.run(document, {resultTypes: ["violations"]}).then(
		r => ({violations: r.violations, passes: r.passes.length}))`)
	if result.Passes < 5 {
		b.Errorf("axe-core checked %d rules", result.Passes)
	}
	return result.Violations
}

// axe-core finds what is wrong on purpose: what it does not find elsewhere is not there.
func TestAxeFinds(t *testing.T) {
	t.Parallel()
	b := open(t, "data:text/html,"+`<html><title>t</title><img src="data:,">`+
		`<p style="color: rgb(200,200,200); background: white">pale</p><input>`, looks[0])
	found := ""
	for _, v := range b.violations() {
		found += v.ID + " "
	}
	for _, want := range []string{"image-alt", "color-contrast", "label", "html-has-lang"} {
		if !strings.Contains(found, want) {
			t.Errorf("it finds %s, and not %s", found, want)
		}
	}
}
