// Package models runs the protocols' models of docs/design/models through a checker.
package models

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

const folder = "../../docs/design/models"

// A run is a model with some of its bounds and options set, and what is to come out.
type run struct {
	model, options string
	breaks         string // the invariant; empty where all hold
}

// rows are those lines of the README's tables that match, by the section that they stand in.
func rows(t *testing.T, pattern string) (found []section) {
	t.Helper()
	readme, err := os.ReadFile(filepath.Join(folder, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile(pattern)
	name := ""
	for line := range strings.Lines(string(readme)) {
		if title, ok := strings.CutPrefix(line, "## "); ok {
			name = strings.TrimSpace(title)
		}
		if cells := row.FindStringSubmatch(line); cells != nil {
			found = append(found, section{name, cells[1:]})
		}
	}
	return found
}

type section struct {
	name  string
	cells []string
}

// runs reads the README's tables of runs.
func runs(t *testing.T) (all []run) {
	for _, r := range rows(t, "^\\| `([A-Z][A-Za-z0-9= -]*)` \\| (holds|`[a-z]+`) \\|") {
		all = append(all, run{
			r.name, r.cells[0], strings.TrimPrefix(strings.Trim(r.cells[1], "`"), "holds"),
		})
	}
	return all
}

func modelFiles(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.pml"))
	if err != nil || len(files) == 0 {
		t.Fatal("no models", err)
	}
	models := map[string]string{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		models[strings.TrimSuffix(filepath.Base(f), ".pml")] = string(text)
	}
	return models
}

// Every state of every model keeps the invariants, and every rule that is broken on purpose breaks
// the invariant that the README says.
func TestModels(t *testing.T) {
	if _, err := exec.LookPath("spin"); err != nil {
		t.Skip("spin is missing: install Debian's package spin")
	}
	byModel := map[string][]run{}
	for _, r := range runs(t) {
		byModel[r.model] = append(byModel[r.model], r)
	}
	for model := range modelFiles(t) {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			var sum result
			holding, breaking := 0, 0
			results := make([]result, len(byModel[model]))
			t.Cleanup(func() {
				for i, r := range results {
					sum.states += r.states
					sum.cpu += r.cpu
					if byModel[model][i].breaks == "" {
						holding++
					} else {
						breaking++
					}
				}
				t.Logf("%s: %d states, %d configurations hold, %d mutants fail, %.0f s of CPU",
					model, sum.states, holding, breaking, sum.cpu.Seconds())
			})
			for i, r := range byModel[model] {
				t.Run(r.options, func(t *testing.T) {
					t.Parallel()
					results[i] = r.check(t)
				})
			}
		})
	}
}

type result struct {
	states int
	cpu    time.Duration
}

var (
	assertion = regexp.MustCompile(`assertion violated \(?[ !(0-9<=>]*([a-z]+)`)
	errorSum  = regexp.MustCompile(`errors: (\d+)`)
	stored    = regexp.MustCompile(`(\d+) states, stored`)
	shadowed  = regexp.MustCompile(`declaration of .(\w+). shadows a global declaration`)
	scratch   = regexp.MustCompile(`(?m)^hidden (?:byte|int) (.*);`)
	// A search that did not come to its end says so.
	unfinished = regexp.MustCompile(
		`max search depth too small|Search not completed|out of memory|MEMLIM|Segmentation`)
)

// scratchNames are the variables of a model that are no part of a state.
func scratchNames(model string) (names []string) {
	for _, m := range scratch.FindAllStringSubmatch(model, -1) {
		names = append(names, strings.Split(m[1], ", ")...)
	}
	return names
}

// check makes the checker of a model, runs it, and looks at what it says.
func (r run) check(t *testing.T) (res result) {
	t.Helper()
	dir := t.TempDir()
	text, err := os.ReadFile(filepath.Join(folder, r.model+".pml"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, r.model+".pml"), text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	// command returns what it prints.
	command := func(name string, args ...string) string {
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		var status *exec.ExitError
		if err != nil && (name != "./pan" || !errors.As(err, &status)) {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		res.cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		return string(out)
	}
	args := []string{"-a"}
	for option := range strings.FieldsSeq(r.options) {
		args = append(args, "-D"+option)
		// A word that the model does not know would change nothing.
		name, _, _ := strings.Cut(option, "=")
		if !strings.Contains(string(text), "#ifndef "+name+"\n") {
			t.Fatalf("%s.pml has no option %s", r.model, name)
		}
	}
	command("spin", append(args, r.model+".pml")...)
	// -O1, since most of the time of a short run is the compiler's.
	warnings := command("gcc", "-O1", "-Wshadow", "-DSAFETY", "-DNOREDUCE", "-DMEMLIM=3000",
		"-o", "pan", "pan.c")
	// Scratch variables are variables of the checker's program: one of its own may hide them.
	for _, s := range shadowed.FindAllStringSubmatch(warnings, -1) {
		if slices.Contains(scratchNames(string(text)), s[1]) {
			t.Fatalf("%s.pml: the checker has a variable %s of its own: name it otherwise",
				r.model, s[1])
		}
	}
	out := command("./pan", "-n", "-m100000", "-w22")
	if m := stored.FindStringSubmatch(out); m != nil {
		res.states, _ = strconv.Atoi(m[1])
	}
	broken := ""
	if m := assertion.FindStringSubmatch(out); m != nil {
		broken = m[1]
	}
	sum := errorSum.FindStringSubmatch(out)
	switch {
	case sum == nil || res.states == 0 || (sum[1] == "0") != (broken == ""):
		t.Fatalf("the checker says:\n%s", out)
	case broken != r.breaks && broken == "":
		t.Fatalf("no invariant is broken in %d states; it is to break %s", res.states, r.breaks)
	case broken != r.breaks && r.breaks == "":
		t.Fatalf("it breaks %s; all invariants are to hold:\n%s", broken, out)
	case broken != r.breaks:
		t.Fatalf("it breaks %s, and not %s:\n%s", broken, r.breaks, out)
	case broken == "" && unfinished.MatchString(out):
		t.Fatalf("the search is not complete:\n%s", out)
	}
	return res
}

// Each mutant of a model has a run that breaks something, each invariant has one that breaks it,
// and each model has runs that hold.
func TestEveryMutantRuns(t *testing.T) {
	all := runs(t)
	invariant := regexp.MustCompile(`assert\(!(\w+)\)`)
	define := regexp.MustCompile(`(?m)^#define ([a-z]+) [1-9]\d*\b`)
	for model, text := range modelFiles(t) {
		_, mutants, ok := strings.Cut(text, "#define none 0\n")
		mutants, _, end := strings.Cut(mutants, "#ifndef MUT\n")
		names := define.FindAllStringSubmatch(mutants, -1)
		if !ok || !end || len(names) == 0 {
			t.Errorf("%s.pml lists no mutants", model)
		}
		has := func(match func(run) bool, what string) {
			if !slices.ContainsFunc(all, func(r run) bool { return r.model == model && match(r) }) {
				t.Errorf("README.md has no run of %s %s", model, what)
			}
		}
		has(func(r run) bool { return r.breaks == "" }, "that holds")
		for _, name := range names {
			has(func(r run) bool {
				return r.breaks != "" && slices.Contains(strings.Fields(r.options), "MUT="+name[1])
			}, "that breaks something by MUT="+name[1])
		}
		for _, name := range invariant.FindAllStringSubmatch(text, -1) {
			has(func(r run) bool { return r.breaks == name[1] }, "that breaks "+name[1])
		}
	}
	for _, r := range all {
		if !strings.Contains(modelFiles(t)[r.model], "Invariant "+r.breaks) {
			t.Errorf("%s.pml has no invariant %s", r.model, r.breaks)
		}
	}
}

var step = regexp.MustCompile(`\b(launchlog|claims|kv|decimal): ([A-Z][\w.]*|[a-z]\w*)`)

// The code has every function that the README names for a step. README and models have the same
// steps.
func TestSteps(t *testing.T) {
	inReadme, inModels := map[string]bool{}, map[string]bool{}
	for _, text := range modelFiles(t) {
		for _, s := range step.FindAllStringSubmatch(text, -1) {
			inModels[s[1]+": "+strings.TrimSuffix(s[2], ".")] = true
		}
	}
	for _, r := range rows(t, "^\\| `(\\w+: [\\w.]+)` \\| \\[(.*)\\]\\((.*)\\) `([\\w.]+)` \\|") {
		name, file, link, function := r.cells[0], r.cells[1], r.cells[2], r.cells[3]
		inReadme[name] = true
		if !inModels[name] {
			t.Errorf("%s is a step of no model", name)
		}
		if link != "../../../"+file {
			t.Errorf("%s: the link to %s leads to %s", name, file, link)
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join("../..", file), nil, 0)
		if err != nil {
			t.Error(err)
		} else if !slices.Contains(functions(parsed), function) {
			t.Errorf("%s: there is no %s in %s", name, function, file)
		}
	}
	for name := range inModels {
		if !inReadme[name] {
			t.Errorf("README.md does not say what %s is in the code", name)
		}
	}
	if len(inReadme) == 0 {
		t.Error("README.md has no steps")
	}
}

// functions lists the functions and methods of a file, those of interfaces too, as Type.Method.
func functions(f *ast.File) (names []string) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			name := n.Name.Name
			if n.Recv != nil {
				name = receiver(n.Recv.List[0].Type) + "." + name
			}
			names = append(names, name)
		case *ast.TypeSpec:
			if i, ok := n.Type.(*ast.InterfaceType); ok {
				for _, m := range i.Methods.List {
					for _, name := range m.Names {
						names = append(names, n.Name.Name+"."+name.Name)
					}
				}
			}
		}
		return true
	})
	return names
}

// receiver is the name of a receiver's type, without its pointer and type parameters.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
