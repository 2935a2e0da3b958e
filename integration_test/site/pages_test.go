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

// The code on these pages is that of programs, queries, manuals and tests that run. White space
// aside, each paragraph of a block stands in one of them.
func TestCode(t *testing.T) {
	t.Parallel()
	var sources []string
	for _, dir := range []string{
		"examples", "sqlid", "idtype", "integration_test",
		"soak_test/companions",
	} {
		check(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if err == nil && slices.Contains([]string{".go", ".sql", ".yaml"}, filepath.Ext(path)) {
				sources = append(sources, words(read(t, path)))
			}
			return err
		}))
	}
	block := regexp.MustCompile("(?s)```(?:go|sql|yaml)\n(.*?)```")
	for page, partly := range map[string]bool{ // only blocks that begin with a tab are of a program
		"README.md": false, "docs/use/claims.md": true, "docs/use/clickhouse.md": true, "docs/use/gorm.md": true,
		"docs/use/pgx.md": false, "docs/reference/schemes.md": true, "docs/use/sqlc.md": false,
		"docs/use/database-sql.md": false, "docs/use/bun.md": false, "docs/use/ent.md": false,
		"docs/move/gorm-apps.md": false, "docs/use/public-ids.md": false, "docs/use/testing.md": false,
		"docs/use/paging.md": true, "docs/explain/distributed.md": false, "docs/use/trace.md": false,
		"docs/use/metabyte.md": false, "docs/use/snowflake.md": false, "docs/use/companions.md": false,
		"docs/move/postgresql-apps.md": false, "docs/move/from-snowflake.md": false,
		"docs/start.md": false,
	} {
		found := 0
		for _, m := range block.FindAllStringSubmatch(read(t, page), -1) {
			if partly && !strings.HasPrefix(m[1], "\t") {
				continue
			}
			found++
			for part := range strings.SplitSeq(m[1], "\n\n") {
				if !slices.ContainsFunc(sources, func(source string) bool {
					return strings.Contains(source, words(part))
				}) {
					t.Errorf("%s: no tested file holds\n%s", page, part)
				}
			}
		}
		if found == 0 {
			t.Errorf("%s has no code", page)
		}
	}
	shown, program := blocks(t, "README.md", "go"), words(read(t, "examples/quickstart/main.go"))
	for part := range strings.SplitSeq(strings.Join(shown, ""), "\n\n") {
		if !strings.Contains(program, words(part)) {
			t.Errorf("README shows of examples/quickstart/main.go\n%s", part)
		}
	}
	if len(shown) != 1 {
		t.Errorf("README has %d programs", len(shown))
	}
}

// words are those of a text, without the marks of comments that begin lines.
func words(text string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll("\n"+text, "\n//", "\n")), " ")
}

// Guides of libraries have the same headings, so that readers find their way in the next one.
func TestGuides(t *testing.T) {
	t.Parallel()
	second := regexp.MustCompile("(?m)^## (.*)$")
	for _, name := range []string{"gorm", "pgx", "sqlc", "ent", "bun", "database-sql", "clickhouse"} {
		var found []string
		for _, m := range second.FindAllStringSubmatch(read(t, "docs/use/"+name+".md"), -1) {
			found = append(found, m[1])
		}
		want := []string{"Install", "Declare", "Insert", "What it changes", "Limits"}
		if !slices.Equal(found, want) {
			t.Errorf("docs/use/%s.md has the headings %q, want %q", name, found, want)
		}
	}
}

// Tests that pages name are there.
func TestNamedTests(t *testing.T) {
	t.Parallel()
	var sources strings.Builder
	check(t, filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, "_test.go") {
			sources.WriteString(read(t, path))
		}
		return err
	}))
	tests := regexp.MustCompile("`(Test[A-Z]\\w*)`")
	found := 0
	for _, page := range documents(t) {
		for _, name := range tests.FindAllStringSubmatch(read(t, page), -1) {
			if found++; !strings.Contains(sources.String(), "\nfunc "+name[1]+"(") {
				t.Errorf("%s: there is no %s", page, name[1])
			}
		}
	}
	if found < 30 {
		t.Errorf("%d tests are named", found)
	}
}

// Mutants that pages name are there.
func TestNamedMutants(t *testing.T) {
	t.Parallel()
	list := read(t, "integration_test/mutants/mutants.txt")
	const page = "docs/design/mutants-of-others.md"
	rows := regexp.MustCompile(`(?m)^\| .* \| (as .*?) \| .*\|$`).FindAllStringSubmatch(
		read(t, page), -1)
	for _, row := range rows {
		if !regexp.MustCompile(`(?m)^# \w+: ` + regexp.QuoteMeta(row[1]) + "$").MatchString(list) {
			t.Errorf("%s: there is no mutant %q", page, row[1])
		}
	}
	if len(rows) < 25 {
		t.Errorf("%s names %d mutants", page, len(rows))
	}
}

// An app that ends by log.Fatal or os.Exit runs no deferred Close, and its next start begins below
// IDs that it has stored. So in examples and on pages only main ends so, and defers no Close.
func TestNobodyExitsBeforeClose(t *testing.T) {
	t.Parallel()
	sources := map[string]string{}
	check(t, filepath.WalkDir("examples", func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".go") && !strings.HasPrefix(path, "examples/ent/ent/") {
			sources[path] = read(t, path)
		}
		return err
	}))
	block := regexp.MustCompile("(?ms)^```go\n(.*?)^```")
	for _, page := range documents(t) {
		for _, m := range block.FindAllStringSubmatch(read(t, page), -1) {
			sources[page+":\n"+m[1]] = m[1]
		}
	}
	for name, source := range sources {
		if exitsBeforeClose(source) {
			t.Errorf("%s: Close is not called where log.Fatal or os.Exit is", name)
		}
	}
	const mains = "func main() {\n\tif err := run(); err != nil {\n\t\tlog.Fatal(err)\n\t}\n}\n"
	for source, want := range map[string]bool{
		mains: false, "package main\n" + mains: false, "\tdefer ids.Close(ctx)\n": false,
		"func check(err error) {\n\tlog.Fatalf(\"%v\", err)\n}\n": true,
		"\tdefer ids.Close(ctx)\n\tos.Exit(1)\n":                  true,
	} {
		if exitsBeforeClose(source) != want {
			t.Errorf("%q: %v", source, !want)
		}
	}
}

var exits = regexp.MustCompile(`log\.Fatal\w*\(|os\.Exit\(`)

// exitsBeforeClose tells whether a function that is not main exits, or one that closes something.
func exitsBeforeClose(source string) bool {
	return slices.ContainsFunc(exits.FindAllStringIndex(source, -1), func(at []int) bool {
		before := "\n" + source[:at[0]]
		function := strings.LastIndex(before, "\nfunc ")
		body := before[function+1:]
		return function >= 0 && !strings.HasPrefix(body, "func main(") || strings.Contains(body, ".Close(")
	})
}

// The index leads to every page, with a line each that says for which need it is. README leads to
// the index, and to six pages at most.
func TestIndex(t *testing.T) {
	t.Parallel()
	const index = "docs/README.md"
	listed := map[string]int{}
	for line := range strings.Lines(read(t, index)) {
		item := regexp.MustCompile(`^[-|] \[[^\]]+\]\(([\w./-]+)\)(.*)`).FindStringSubmatch(line)
		if item == nil {
			continue
		}
		listed[filepath.Join("docs", item[1])]++
		if len(strings.Fields(item[2])) < 4 {
			t.Errorf("%s does not say what %s is for", index, item[1])
		}
	}
	pages := 0
	for _, page := range documents(t) {
		if !strings.HasPrefix(page, "docs/") || page == index {
			continue
		}
		if pages++; listed[page] != 1 {
			t.Errorf("%s lists %s %d times", index, page, listed[page])
		}
	}
	if pages < 40 {
		t.Errorf("%d pages", pages)
	}
	linked := map[string]bool{}
	for _, m := range link.FindAllStringSubmatch(read(t, "README.md"), -1) {
		if page, _, _ := strings.Cut(m[1], "#"); strings.HasPrefix(page, "docs/") {
			linked[page] = true
		}
	}
	if !linked[index] || len(linked) > 7 {
		t.Errorf("README links to %d pages of docs, and to the index: %v", len(linked), linked[index])
	}
}

// The errors of docs/faq.md are those of the code.
func TestErrorsOfFAQ(t *testing.T) {
	t.Parallel()
	var sources strings.Builder
	check(t, filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			sources.WriteString(read(t, path))
		}
		return err
	}))
	code := regexp.MustCompile(`"\s*\+\s*"`).ReplaceAllString(sources.String(), "")
	found := 0
	for _, m := range regexp.MustCompile("(?m)^### `(.*)`$").FindAllStringSubmatch(
		read(t, "docs/faq.md"), -1) {
		found++
		for part := range strings.SplitSeq(m[1], "…") {
			if !strings.Contains(code, strings.TrimSpace(part)) {
				t.Errorf("no error says %q", part)
			}
		}
	}
	if found < 12 {
		t.Errorf("%d errors", found)
	}
}

// README is one page, with its program and its tables.
func TestReadmeIsShort(t *testing.T) {
	t.Parallel()
	if n := len(strings.Fields(read(t, "README.md"))); n > 700 {
		t.Errorf("%d words", n)
	}
}

// The commands of README and of the command line's page are run, one block after the other, in a
// copy of the checkout. Not the tests, which are running.
func TestReadmeCommands(t *testing.T) {
	t.Parallel()
	dir := copied(t)
	user := filepath.Join(dir, "..", "yours") // a module that uses the checkout
	check(t, os.MkdirAll(user, 0o755))
	program := `package main; import "github.com/idmint/idmint/idtype"; ` +
		`func main() { println(idtype.MustParse[idtype.DecimalID]("14150009200065").String()) }`
	for name, content := range map[string]string{
		filepath.Join(user, "go.mod"):  "module example.com/yours\n\ngo 1.26\n",
		filepath.Join(user, "main.go"): program,
	} {
		check(t, os.WriteFile(name, []byte(content), 0o644))
	}
	said := heard(func() (said string) {
		forget(t, dir)
		for _, block := range slices.Concat(blocks(t, "README.md", "sh"),
			blocks(t, "docs/reference/cli.md", "sh")) {
			if block == "make test\n" {
				continue
			}
			in := dir
			if strings.HasPrefix(block, "go mod edit") {
				in = user
			}
			said += sh(t, in, block)
		}
		return said + sh(t, user, "go run .") + inTransaction(t, dir)
	})
	wants := []string{
		"Ann is 30000100002 of launch 2\n", "customers: 2 rows", "0 inversions", "14150009200065\n",
	}
	shown := regexp.MustCompile("It prints `(.*?)`").FindAllStringSubmatch(read(t, "README.md"), -1)
	for _, m := range shown {
		wants = append(wants, m[1]+"\n")
	}
	if len(shown) != 2 {
		t.Errorf("README.md shows what %d commands say", len(shown))
	}
	for _, want := range wants {
		if !strings.Contains(said, want) {
			t.Errorf("the README's commands did not say %q:\n%s", want, said)
		}
	}
}

// inTransaction runs the README's program again, with a transaction that writes as the first
// thing that the app does.
func inTransaction(t *testing.T, dir string) string {
	t.Helper()
	const create = `err = db.Create(&ann).Error`
	const inside = `err = db.Transaction(func(tx *gorm.DB) error {
		if err := tx.Exec("UPDATE users SET name = 'Bob'").Error; err != nil {
			return err
		}
		return tx.Create(&ann).Error
	})`
	source := read(t, "examples/quickstart/main.go")
	changed := strings.Replace(source, create, inside, 1)
	if changed == source {
		t.Fatalf("the program has no %s", create)
	}
	program := filepath.Join(dir, "examples/quickstart/main.go")
	check(t, os.WriteFile(program, []byte(changed), 0o644))
	defer func() { check(t, os.WriteFile(program, []byte(source), 0o644)) }()
	return sh(t, dir, "go run ./examples/quickstart", "IDMINT_DEPLOYMENT=7f9c")
}

// Whoever copies a program or a sample gets a generator that has its number before a transaction.
func TestSamplesAreReady(t *testing.T) {
	t.Parallel()
	samples := []string{
		"README.md", "cmd/idmint/demo.go", "generator/doc.go", "gormid/doc.go",
		"launchlog/doc.go",
	}
	programs := must(filepath.Glob("examples/*/main.go"))
	made := regexp.MustCompile(`generator\.New(Decimal|Sno|Snowflake|Sequence|Trace|Short|EightByte)\(`)
	for _, name := range append(samples, programs...) {
		text := read(t, name)
		generators := made.FindAllStringIndex(text, -1)
		if len(generators) == 0 && !strings.Contains(text, "idmint.Open") {
			t.Errorf("%s makes no generator", name)
		}
		for i, at := range generators {
			end := len(text)
			if i+1 < len(generators) {
				end = generators[i+1][0]
			}
			if !strings.Contains(text[at[0]:end], ".Ready(ctx)") {
				line, _, _ := strings.Cut(text[at[0]:], "\n")
				t.Errorf("%s: no Ready after %s", name, line)
			}
		}
	}
}

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
		!slices.Contains(documents, "docs/explain/architecture.md") {
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
		"docs/results/speed.md": true, "docs/reference/databases.md#size": true, "docs": true,
		"https://example.com/x": true,
		"docs/no-such.md":       false, "docs/reference/databases.md#no-such": false, "#no-such": false,
	} {
		if err := follow(t, "README.md", to); (err == nil) != ok {
			t.Errorf("a link to %s: %v", to, err)
		}
	}
	for path, ok := range map[string]bool{
		"docs/results/speed.md": true, "launchlog/sqlite.Backup": true, "idtype/NAME.go": true,
		"sno/7":           true,
		"docs/no-such.md": false, "no-such/NAME": true, "launchlog/no-such/NAME": false,
	} {
		if err := find(path); (err == nil) != ok {
			t.Errorf("a path %s: %v", path, err)
		}
	}
}
