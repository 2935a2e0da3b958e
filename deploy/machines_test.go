package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
)

func systemd(t *testing.T) recipe {
	unit := string(read(t, "systemd/shop.service"))
	for _, want := range []string{
		"ExecStartPre=/bin/sh /opt/shop/current/launch.sh\n", "RuntimeDirectory=shop\n",
		"EnvironmentFile=-/run/shop/launch.env\n", "EnvironmentFile=/etc/shop/idmint.env\n",
	} {
		if !strings.Contains(unit, want) {
			t.Errorf("the unit lacks %s", want)
		}
	}
	script := string(read(t, "systemd/launch.sh"))
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
		}
	}
	const current = "/opt/shop/current"
	if !strings.Contains(script, current) {
		t.Error("the script does not ask for the release")
	}
	env := link("1.2.3")
	return recipe{
		start: strings.ReplaceAll(script, current, `"$CURRENT"`), app: "exec shop",
		first: env, again: env, next: link("1.2.4"),
		given: variables("launch.env"),
		keeps: true,
	}
}

// The unit is one for systemd itself.
func TestUnit(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("no systemd-analyze")
	}
	unit := string(read(t, "systemd/shop.service"))
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

func compose(t *testing.T) recipe {
	project := func(deployment string) *types.Project {
		p, err := loader.LoadWithContext(t.Context(), types.ConfigDetails{
			WorkingDir: "compose",
			ConfigFiles: []types.ConfigFile{{
				Filename: "compose.yaml", Content: read(t, "compose/compose.yaml"),
			}},
			Environment: types.Mapping{"IDMINT_DB": "postgres://…", "DEPLOYMENT": deployment},
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
	env := func(deployment string) map[string]string {
		return map[string]string{
			"DEPLOYMENT": *project(deployment).Services["launch"].Environment["DEPLOYMENT"],
		}
	}
	p := project("1")
	if on := p.Services["shop"].DependsOn["launch"]; on.Condition !=
		types.ServiceConditionCompletedSuccessfully {
		t.Errorf("%+v", on)
	}
	return recipe{
		start: script(p.Services["launch"]), app: script(p.Services["shop"]),
		first: env("20260301T120000Z"), again: env("20260301T120000Z"),
		next: env("20260302T120000Z"),
	}
}
