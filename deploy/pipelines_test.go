package deploy

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// strict reads YAML into a type that names every key which may be there.
func strict(t *testing.T, text []byte, into any) {
	t.Helper()
	if err := yaml.UnmarshalStrict(text, into); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// variables reads lines NAME=VALUE, of one file that lies in the folder.
func variables(name string) func(*testing.T, string) map[string]string {
	return func(t *testing.T, dir string) map[string]string {
		t.Helper()
		found := map[string]string{}
		for line := range strings.Lines(string(read(t, filepath.Join(dir, name)))) {
			name, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
			if !ok {
				t.Fatalf("%q is no variable", line)
			}
			found[name] = value
		}
		return found
	}
}

// with is an environment with other values.
func with(env map[string]string, pairs ...string) map[string]string {
	all := map[string]string{}
	maps.Copy(all, env)
	for i := 0; i < len(pairs); i += 2 {
		all[pairs[i]] = pairs[i+1]
	}
	return all
}

// A workflow has what the recipe uses of GitHub's.
type workflow struct {
	On struct {
		Push struct{ Branches []string }
	} `json:"true"` // YAML's older name of "on"
	Concurrency struct {
		Group  string
		Cancel *bool `json:"cancel-in-progress"`
	}
	Jobs map[string]struct {
		If    string
		Env   map[string]string
		Steps []struct{ Uses, Run, Shell string }
	}
}

func github(t *testing.T, p place) recipe {
	var w workflow
	if err := yaml.Unmarshal(p.read(t, "github/deploy.yml"), &w); err != nil {
		t.Fatal(err)
	}
	var scripts []string
	for _, step := range w.Jobs["deploy"].Steps {
		if step.Run != "" && step.Shell == "bash" {
			scripts = append(scripts, step.Run)
		}
	}
	if len(scripts) != 3 || w.Jobs["deploy"].Env["IDMINT_DB"] == "" {
		t.Fatalf("%+v", w)
	}
	env := map[string]string{
		"GITHUB_ENV": "/launch/github.env", "GITHUB_REPOSITORY": "acme/shop",
		"GITHUB_RUN_ID": "1658821493", "GITHUB_RUN_ATTEMPT": "1", "GITHUB_ACTOR": "ann",
		"GITHUB_TRIGGERING_ACTOR": "ann", "GITHUB_SHA": "ffac537e6cbbf934b08745a378932722df287a53",
		"GITHUB_REF": "refs/heads/main", "GITHUB_SERVER_URL": "https://github.com",
		"APP_ENV": w.Jobs["deploy"].Env["APP_ENV"],
	}
	return recipe{
		start: scripts[0], app: scripts[1], finish: scripts[2],
		first: env,
		again: with(env, "GITHUB_RUN_ATTEMPT", "2", "GITHUB_TRIGGERING_ACTOR", "bob"),
		next: with(env, "GITHUB_RUN_ID", "1658821494", "GITHUB_ACTOR", "bob",
			"GITHUB_SHA", "0a1b2c"),
		shell: []string{"bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"},
		given: variables("github.env"),
	}
}

// The tool knows the schema of workflows, the contexts, and the inputs of actions.
func TestGitHubWorkflow(t *testing.T) {
	out, err := exec.Command("go", "tool", "actionlint", "-shellcheck=", "-pyflakes=",
		"github/deploy.yml").CombinedOutput()
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// A branch is not deployed, and the runs of a place wait for each other, from the first step to the
// last.
func TestGitHubRuns(t *testing.T) {
	for _, p := range []place{shop, {"blog", "staging"}} {
		var w workflow
		if err := yaml.Unmarshal(p.read(t, "github/deploy.yml"), &w); err != nil {
			t.Fatal(err)
		}
		const where = "github.ref == 'refs/heads/main' || github.ref_type == 'tag'"
		if !slices.Equal(w.On.Push.Branches, []string{"main"}) || w.Jobs["deploy"].If != where ||
			w.Concurrency.Group != p.service+"-"+p.env || len(w.Jobs) != 1 ||
			w.Concurrency.Cancel == nil || *w.Concurrency.Cancel {
			t.Errorf("%+v", w)
		}
	}
}

// A gitlabJob has the keywords that the recipe uses.
type gitlabJob struct {
	Rules []struct {
		If string `json:"if"`
	} `json:"rules"`
	Environment   string            `json:"environment"`
	ResourceGroup string            `json:"resource_group"`
	Variables     map[string]string `json:"variables"`
	Script        []string          `json:"script"`
}

// gitlabDeploy is the only job: what starts a launch and what ends others have one lock.
func gitlabDeploy(t *testing.T, p place) gitlabJob {
	t.Helper()
	var pipeline struct {
		Deploy gitlabJob `json:"deploy"`
	}
	strict(t, p.read(t, "gitlab/.gitlab-ci.yml"), &pipeline)
	job := pipeline.Deploy
	if job.ResourceGroup != p.service+"-"+p.env || job.Environment != p.env || len(job.Script) != 3 {
		t.Fatalf("%+v", job)
	}
	return job
}

func gitlab(t *testing.T, p place) recipe {
	job := gitlabDeploy(t, p)
	env := with(job.Variables,
		"CI_PROJECT_ID", "77", "CI_PIPELINE_ID", "1212", "CI_JOB_ID", "1",
		"CI_PROJECT_PATH", "acme/shop", "CI_COMMIT_SHA", "ffac537e", "CI_COMMIT_REF_NAME", "main",
		"GITLAB_USER_LOGIN", "ann",
		"CI_PIPELINE_URL", "https://gitlab.example.com/acme/shop/-/pipelines/1212",
	)
	define, _, _ := strings.Cut(job.Script[0], "IDMINT_LAUNCH_ID=")
	return recipe{
		// One shell runs all of the job.
		start: job.Script[0], app: job.Script[0] + job.Script[1], finish: define + job.Script[2],
		first: env,
		again: with(env, "CI_JOB_ID", "2", "GITLAB_USER_LOGIN", "bob"),
		next: with(env, "CI_PIPELINE_ID", "1213", "CI_COMMIT_SHA", "0a1b2c", "CI_PIPELINE_URL",
			"https://gitlab.example.com/acme/shop/-/pipelines/1213"),
		shell: []string{"bash", "-eo", "pipefail", "-c"},
	}
}

// Only the default branch is deployed, and a tag by hand. A schedule deploys nothing.
func TestGitLabRules(t *testing.T) {
	job := gitlabDeploy(t, shop)
	for _, pipeline := range []struct {
		source, branch, tag string
		want                bool
	}{
		{"push", "main", "", true},
		{"web", "", "v1.2.2", true},
		{"push", "feature", "", false},
		{"push", "", "v1.2.3", false},
		{"web", "feature", "", false},
		{"schedule", "main", "", false},
		{"merge_request_event", "", "", false},
	} {
		var runs bool
		for _, rule := range job.Rules {
			// Such a rule means in bash what it means in GitLab.
			cmd := exec.Command("bash", "-c", "[[ "+rule.If+" ]]")
			cmd.Env = []string{
				"CI_DEFAULT_BRANCH=main", "CI_PIPELINE_SOURCE=" + pipeline.source,
				"CI_COMMIT_BRANCH=" + pipeline.branch, "CI_COMMIT_TAG=" + pipeline.tag,
			}
			out, err := cmd.CombinedOutput()
			if len(out) > 0 {
				t.Fatalf("%s: %s", rule.If, out)
			}
			runs = runs || err == nil
		}
		if runs != pipeline.want {
			t.Errorf("%+v: deploys %t", pipeline, runs)
		}
	}
}

// GitLab may take the pipelines that wait in any order. The earlier one, which runs last, has a
// launch that runs.
func TestGitLabOrder(t *testing.T) {
	t.Parallel()
	s := newStage(t, gitlab(t, shop))
	whole := strings.Join(gitlabDeploy(t, shop).Script, "\n")
	for i, env := range []map[string]string{s.next, s.first} {
		id := strconv.Itoa(1 + i)
		if got, err := s.run(whole, env); err != nil || got != id+id+"\n" {
			t.Errorf("pipeline %s deploys and finishes %q, %v", env["CI_PIPELINE_ID"], got, err)
		}
		if got := strings.Join(s.running(), " "); got != id {
			t.Errorf("launches %s run, want %s", got, id)
		}
	}
}
