package site_test

import (
	"errors"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

var (
	inCode  = regexp.MustCompile("`[^`\n]+`")
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ +(.*)$`)
	aPath   = regexp.MustCompile("`([\\w.-]+(?:/[\\w.-]+)+)/?`")
	ofGo    = regexp.MustCompile(`\.[A-Z]\w*(\.\w+)*$`) // launchlog/sqlite.Backup
)

// Every relative link of every document leads to a file, and to a heading where it names one. Every
// path of the checkout that stands in code is there.
func TestLinks(t *testing.T) {
	t.Parallel()
	documents := documents(t)
	if !slices.Contains(documents, "README.md") ||
		!slices.Contains(documents, "docs/architecture.md") {
		t.Fatalf("the documents are %q", documents)
	}
	for _, name := range documents {
		text := fenced.ReplaceAllString(read(t, name), "")
		for _, m := range link.FindAllStringSubmatch(inCode.ReplaceAllString(text, "code"), -1) {
			if err := follow(t, name, m[1]); err != nil {
				t.Errorf("%s: the link to %s: %v", name, m[1], err)
			}
		}
		for _, m := range aPath.FindAllStringSubmatch(text, -1) {
			if err := find(m[1]); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func documents(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command("git", "-c", "safe.directory=*", "ls-files", "-co",
		"--exclude-standard", "*.md").Output()
	check(t, err)
	return strings.Fields(string(out))
}

// follow looks whether a link of the document leads anywhere. The web is not asked.
func follow(t *testing.T, document, to string) error {
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "" {
		return err
	}
	target := document
	if u.Path != "" {
		target = filepath.Join(filepath.Dir(document), u.Path)
	}
	if _, err := os.Stat(target); err != nil {
		return err
	}
	if u.Fragment == "" || !strings.HasSuffix(target, ".md") {
		return nil
	}
	for _, h := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(read(t, target), ""),
		-1) {
		if anchor(h[1]) == u.Fragment {
			return nil
		}
	}
	return errors.New("there is no such heading")
}

// anchor is a heading as GitHub links to it.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}

// find looks for a path, if it begins with a folder of the checkout. NAME is what a reader puts
// there.
func find(path string) error {
	top, _, _ := strings.Cut(path, "/")
	if info, err := os.Stat(top); err != nil || !info.IsDir() {
		return nil
	}
	if before, _, found := strings.Cut(path, "/NAME"); found {
		path = before
	}
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		_, err = os.Stat(ofGo.ReplaceAllString(path, ""))
	}
	return err
}

// What the test of links would say of others.
func TestBrokenLinks(t *testing.T) {
	t.Parallel()
	for to, ok := range map[string]bool{
		"docs/speed.md": true, "docs/databases.md#size": true, "docs": true,
		"https://example.com/x": true,
		"docs/no-such.md":       false, "docs/databases.md#no-such": false, "#no-such": false,
	} {
		if err := follow(t, "README.md", to); (err == nil) != ok {
			t.Errorf("a link to %s: %v", to, err)
		}
	}
	for path, ok := range map[string]bool{
		"docs/speed.md": true, "launchlog/sqlite.Backup": true, "idtype/NAME.go": true,
		"sno/7":           true,
		"docs/no-such.md": false, "no-such/NAME": true, "launchlog/no-such/NAME": false,
	} {
		if err := find(path); (err == nil) != ok {
			t.Errorf("a path %s: %v", path, err)
		}
	}
}
