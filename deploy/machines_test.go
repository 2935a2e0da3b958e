package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
)

func systemd(t *testing.T, p place) recipe {
	unit := string(p.read(t, "systemd/shop.service"))
	home := "/opt/" + p.service + "/current"
	for _, want := range []string{
		"ExecStartPre=/bin/sh " + home + "/launch.sh\n", "RuntimeDirectory=" + p.service + "\n",
		"EnvironmentFile=-/run/" + p.service + "/launch.env\n",
		"EnvironmentFile=/etc/" + p.service + "/idmint.env\n", "ExecStart=" + home + "/" + p.service,
	} {
		if !strings.Contains(unit, want) {
			t.Errorf("the unit lacks %s", want)
		}
	}
	script := string(p.read(t, "systemd/launch.sh"))
	releases := t.TempDir()
	link := func(release string) map[string]string {
		folder := filepath.Join(releases, release)
		if err := os.MkdirAll(filepath.Join(folder, "link"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(folder, filepath.Join(folder, "link", "current")); err != nil {
			t.Fatal(err)
		}
		return map[string]string{
			"RUNTIME_DIRECTORY": "/launch/", "CURRENT": filepath.Join(folder, "link", "current"),
			"APP_ENV": p.env, // the machine's, of idmint.env
		}
	}
	if !strings.Contains(script, home) {
		t.Error("the script does not ask for the release")
	}
	env := link("1.2.3")
	return recipe{
		start: strings.ReplaceAll(script, home, `"$CURRENT"`), app: "exec " + p.service,
		first: env, again: env, next: link("1.2.4"),
		given: variables("launch.env"),
		keeps: true,
	}
}

// unitKeys are the sections and keys of a service's unit that the recipe may use: systemd.unit(5),
// systemd.service(5), systemd.exec(5). systemd ignores what it does not know.
var unitKeys = map[string][]string{
	"[Unit]": {"Description", "Wants", "After"},
	"[Service]": {
		"Type", "DynamicUser", "CapabilityBoundingSet", "ProtectHome", "EnvironmentFile", "RuntimeDirectory", "ExecStartPre", "ExecStart",
		"Restart",
	},
	"[Install]": {"WantedBy"},
}

func TestUnit(t *testing.T) {
	unit := string(read(t, "systemd/shop.service"))
	var keys []string
	for line := range strings.Lines(unit) {
		line = strings.TrimSuffix(line, "\n")
		key, value, _ := strings.Cut(line, "=")
		if of, ok := unitKeys[line]; ok {
			keys = of
		} else if line != "" && line[0] != '#' && (value == "" && key != "CapabilityBoundingSet" || !slices.Contains(keys, key)) {
			t.Errorf("the unit has %s", line)
		}
	}
	// systemd itself looks at more, where it is there.
	if analyze, err := exec.LookPath("systemd-analyze"); err == nil {
		verify(t, analyze, unit)
	}
}

func verify(t *testing.T, analyze, unit string) {
	t.Helper()
	// What the machine of the app has, and this one has not.
	unit = strings.ReplaceAll(unit, "ExecStart=/opt/shop/current/shop", "ExecStart=/bin/true")
	file := filepath.Join(t.TempDir(), "shop.service")
	if err := os.WriteFile(file, []byte(unit), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(analyze, "verify", "--man=no", "--recursive-errors=no",
		file).CombinedOutput()
	if err != nil || strings.Contains(string(out), "Unknown") {
		t.Errorf("%v: %s", err, out)
	}
}

func compose(t *testing.T, p place) recipe {
	project := func(deployment string) *types.Project {
		p, err := loader.LoadWithContext(t.Context(), types.ConfigDetails{
			WorkingDir: "compose",
			ConfigFiles: []types.ConfigFile{{
				Filename: "compose.yaml", Content: p.read(t, "compose/compose.yaml"),
			}},
			Environment: types.Mapping{
				"IDMINT_DB": "postgres://…", "APP_ENV": p.env, "DEPLOYMENT": deployment,
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	script := func(s types.ServiceConfig) string {
		if len(s.Command) != 3 || s.Command[0] != "sh" || s.Command[1] != "-ec" ||
			len(s.Volumes) != 1 || s.Volumes[0].Target != "/launch" {
			t.Fatalf("%+v", s)
		}
		return strings.ReplaceAll(s.Command[2], "$$", "$") // as the engine does
	}
	env := func(service, deployment string) map[string]string {
		env := map[string]string{}
		for name, value := range project(deployment).Services[service].Environment {
			if name != "IDMINT_DB" { // the stage's
				env[name] = *value
			}
		}
		return env
	}
	example := project("1")
	for name, s := range example.Services {
		if !s.ReadOnly || !slices.Equal(s.CapDrop, []string{"ALL"}) ||
			!slices.Equal(s.SecurityOpt, []string{"no-new-privileges:true"}) ||
			name != "launch" && s.User != "65534:65534" {
			t.Errorf("service %s has more rights than it needs: %+v", name, s)
		}
	}
	if on := example.Services[p.service].DependsOn["launch"]; on.Condition !=
		types.ServiceConditionCompletedSuccessfully {
		t.Errorf("%+v", on)
	}
	return recipe{
		start: script(example.Services["launch"]), app: script(example.Services[p.service]),
		own:   env(p.service, "20260301T120000Z"),
		first: env("launch", "20260301T120000Z"), again: env("launch", "20260301T120000Z"),
		next: env("launch", "20260302T120000Z"),
	}
}
