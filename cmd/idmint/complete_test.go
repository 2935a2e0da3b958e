package main

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// completes is what a shell is told to complete a command line with, without descriptions.
func (s *shell) completes(args ...string) (words []string) {
	s.Helper()
	out := s.run(append([]string{"__complete"}, args...)...).stdout
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, ":") { // how the shell is to go on
			break
		}
		word, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if strings.HasPrefix(word, args[len(args)-1]) { // shells do so
			words = append(words, word)
		}
	}
	return words
}

func TestCompletion(t *testing.T) {
	s := inside(t)
	for _, key := range []string{"a", "b", "c"} {
		s.start(key)
	}
	s.must("launch", "end", "2", "--db", "sqlite:app.db", "--outcome", "failed")
	for _, c := range []struct {
		line, want string
	}{
		{"launch show --db sqlite:app.db ^", "3 2 1"},
		{"launch end --db sqlite:app.db ^", "3 1"},
		{"launch end --db sqlite:app.db 3 ^", ""},
		{"launch end --db sqlite:none.db ^", ""},
		{"launch end --db nonsense ^", ""},
		{"launch show --namespace other --db sqlite:app.db ^", ""},
		{"new decimal --db sqlite:app.db --launch ^", "3 2 1"},
		{"launch start --db sqlite:app.db --rolls-back ^", "3 2 1"},
	} {
		args := strings.Fields(c.line)
		args[len(args)-1] = ""
		if got := strings.Join(s.completes(args...), " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.line, got, c.want)
		}
	}
}

// What needs no database.
func TestCompletionWords(t *testing.T) {
	s := inside(t)
	for line, want := range map[string]string{
		"new ^":                         "decimal eightbyte sequence short sno trace",
		"inspect --scheme ^":            "decimal trace eightbyte short sno sequence",
		"launch end 1 --outcome ^":      "succeeded failed aborted rolled-back superseded",
		"launch end 1 --outcome r^":     "rolled-back",
		"launch list --db my^":          "mysql://",
		"import f.csv --log c^":         "clickhouse:// cassandra://",
		"inspect --form ^":              "text number hex uuid",
		"launch st^":                    "start",
		"help launch s^":                "show start",
		"help launch start ^":           "",
		"completion ^":                  "bash fish powershell zsh",
		"launch start --format env --^": "",
	} {
		args := strings.Fields(line)
		args[len(args)-1] = strings.TrimSuffix(args[len(args)-1], "^")
		got := s.completes(args...)
		if want == "" && args[len(args)-1] == "--" {
			if !slices.Contains(got, "--supersede") {
				t.Errorf("%s: %q", line, got)
			}
			continue
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// A real shell loads the script, and completes by it.
func TestCompletionInBash(t *testing.T) {
	s := newShell(t)
	s.start("a")
	cmd := exec.Command("bash", "--norc", "-euc", `
eval "$(idmint completion bash)"
complete -p idmint >/dev/null
COMP_WORDS=(idmint launch end "") COMP_CWORD=3 COMP_LINE="idmint launch end " COMP_POINT=18
COMP_TYPE=9 COMP_KEY=9
_get_comp_words_by_ref() { cur="" prev=end words=("${COMP_WORDS[@]}") cword=3; }
__start_idmint 2>/dev/null || true
printf '%s\n' "${COMPREPLY[@]}"`)
	cmd.Dir = s.dir
	cmd.Env = append(s.env, "IDMINT_DB=sqlite:app.db",
		"PATH="+filepath.Dir(binary)+":/usr/local/bin:/usr/bin:/bin")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "1") {
		t.Errorf("%v: %s", err, out)
	}
}
