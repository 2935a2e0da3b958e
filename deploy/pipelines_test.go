package deploy

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
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

func github(t *testing.T) recipe {
	const file = "github/deploy.yml"
	// The tool knows the schema of workflows, the contexts, and the inputs of actions.
	out, err := exec.Command("go", "tool", "actionlint", "-shellcheck=", "-pyflakes=",
		file).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var workflow struct {
		Jobs map[string]struct {
			Env   map[string]string
			Steps []struct{ Uses, Run, Shell string }
		}
	}
	if err := yaml.Unmarshal(read(t, file), &workflow); err != nil {
		t.Fatal(err)
	}
	var scripts []string
	for _, step := range workflow.Jobs["deploy"].Steps {
		if step.Run != "" && step.Shell == "bash" {
			scripts = append(scripts, step.Run)
		}
	}
	if len(scripts) != 3 || workflow.Jobs["deploy"].Env["IDMINT_DB"] == "" {
		t.Fatalf("%+v", workflow)
	}
	env := map[string]string{
		"GITHUB_ENV": "/launch/github.env", "GITHUB_REPOSITORY": "acme/shop",
		"GITHUB_RUN_ID": "1658821493", "GITHUB_RUN_ATTEMPT": "1", "GITHUB_ACTOR": "ann",
		"GITHUB_TRIGGERING_ACTOR": "ann", "GITHUB_SHA": "ffac537e6cbbf934b08745a378932722df287a53",
		"GITHUB_REF": "refs/heads/main", "GITHUB_SERVER_URL": "https://github.com",
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

// A gitlabJob has the keywords that the recipe uses.
type gitlabJob struct {
	Stage         string   `json:"stage"`
	Script        []string `json:"script"`
	ResourceGroup string   `json:"resource_group"`
	Artifacts     struct {
		Reports struct {
			Dotenv string `json:"dotenv"`
		} `json:"reports"`
	} `json:"artifacts"`
}

func gitlab(t *testing.T) recipe {
	var pipeline struct {
		Stages []string  `json:"stages"`
		Launch gitlabJob `json:"launch"`
		Deploy gitlabJob `json:"deploy"`
		Finish gitlabJob `json:"finish"`
	}
	strict(t, read(t, "gitlab/.gitlab-ci.yml"), &pipeline)
	jobs := []gitlabJob{pipeline.Launch, pipeline.Deploy, pipeline.Finish}
	for i, job := range jobs {
		if job.Stage != pipeline.Stages[i] {
			t.Errorf("job %d is of stage %s", i, job.Stage)
		}
	}
	script := func(i int) string { return strings.Join(jobs[i].Script, "\n") }
	env := map[string]string{
		"CI_PROJECT_ID": "77", "CI_PIPELINE_ID": "1212", "CI_JOB_ID": "1", "CI_PROJECT_PATH": "acme/shop",
		"CI_COMMIT_SHA": "ffac537e", "CI_COMMIT_REF_NAME": "main", "GITLAB_USER_LOGIN": "ann",
		"CI_PIPELINE_URL": "https://gitlab.example.com/acme/shop/-/pipelines/1212",
	}
	return recipe{
		start: script(0), app: script(1), finish: script(2),
		first: env,
		again: with(env, "CI_JOB_ID", "2", "GITLAB_USER_LOGIN", "bob"),
		next: with(env, "CI_PIPELINE_ID", "1213", "CI_COMMIT_SHA", "0a1b2c", "CI_PIPELINE_URL",
			"https://gitlab.example.com/acme/shop/-/pipelines/1213"),
		shell: []string{"bash", "-eo", "pipefail", "-c"},
		given: variables(pipeline.Launch.Artifacts.Reports.Dotenv),
	}
}
