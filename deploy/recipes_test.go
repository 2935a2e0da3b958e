package deploy

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/idmint/idmint"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/launchlog/postgres"
)

// static is the program that pipelines use, and which the recipes call.
var static string

// joining is the variable by which a program of this test is an app, of the service that it names.
const joining = "IDMINT_TEST_JOINS"

func TestMain(m *testing.M) {
	if service := os.Getenv(joining); service != "" {
		if err := join(context.Background(), service); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	status, err := withStatic(func() int { return dbtest.Code(m) })
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		status = 1
	}
	os.Exit(status)
}

// join does what an app does when it starts, as in examples/orders, and prints its launch.
func join(ctx context.Context, service string) (err error) {
	store, err := postgres.Open(ctx, os.Getenv("IDMINT_DB"))
	if err != nil {
		return err
	}
	defer store.Close()
	ids, err := idmint.Open(ctx, store, idmint.App{
		Service: service, Environment: os.Getenv("APP_ENV"),
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ids.Close(ctx)) }()
	id, err := ids.Next(ctx)
	fmt.Print(id.Parts().Launch)
	return err
}

// withStatic builds the static program as the Dockerfile does, but with the paths of this machine:
// so it takes packages that are compiled already.
func withStatic(run func() int) (status int, err error) {
	dir, err := os.MkdirTemp("", "idmint")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	static = filepath.Join(dir, "idmint")
	cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o", static,
		"github.com/idmint/idmint/cmd/idmint")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("go build: %w\n%s", err, out)
	}
	return run(), nil
}

// A recipe is the scripts of a deployment, in the words of its platform.
type recipe struct {
	start, app, finish string // app hands the number to the program: shop, or deploy
	// The environments of a deployment, of the same when it is tried again, and of the next one.
	first, again, next map[string]string
	shell              []string // sh -ec if empty
	// own is the environment of app, if it does not share that of start.
	own     map[string]string
	service string // of app, if it is not the place's
	// given is what the platform adds to the environment of app, from the files that start wrote.
	given func(t *testing.T, dir string) map[string]string
	// keeps says that former launches go on, since a rollback comes back to them.
	keeps bool
}

// A place is a service in an environment. Users put their names into the recipes.
type place struct{ service, env string }

// shop is what the recipes say.
var shop = place{"shop", "production"}

// read reads a file of a recipe, with the names of the place.
func (p place) read(t *testing.T, file string) []byte {
	t.Helper()
	names := strings.NewReplacer(shop.service, p.service, shop.env, p.env)
	return []byte(names.Replace(string(read(t, file))))
}

var recipes = map[string]func(*testing.T, place) recipe{
	"GitHub": github, "GitLab": gitlab, "KubernetesCronJob": kubernetesCronJob, "Helm": helm,
	"ArgoCD": argoCD, "systemd": systemd, "Compose": compose,
}

// A stage is a folder where a recipe runs, as its platform would run it.
type stage struct {
	*testing.T
	recipe
	dir, bin, dsn string
}

// run runs a script. What is mounted at /launch is the folder.
func (s *stage) run(script string, envs ...map[string]string) (stdout string, err error) {
	s.Helper()
	script = strings.ReplaceAll(script, "/launch/", s.dir+"/")
	shell := s.shell
	if shell == nil {
		shell = []string{"sh", "-ec"}
	}
	cmd := exec.Command(shell[0], append(shell[1:len(shell):len(shell)], script)...)
	cmd.Dir = s.dir
	cmd.Env = []string{"PATH=" + s.bin + ":/usr/bin:/bin", "IDMINT_DB=" + s.dsn, "HOME=" + s.dir}
	for _, env := range envs {
		for name, value := range env {
			cmd.Env = append(cmd.Env, name+"="+strings.ReplaceAll(value, "/launch/", s.dir+"/"))
		}
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		s.Logf("%v: %s", err, stderr.String())
	}
	return string(out), err
}

// deploy starts the launch and the app, and returns the number that the app has.
func (s *stage) deploy(env map[string]string) string {
	s.Helper()
	if _, err := s.run(s.start, env); err != nil {
		s.Fatal(err)
	}
	var given map[string]string
	if s.given != nil {
		given = s.given(s.T, s.dir)
	}
	if s.own != nil {
		env = s.own
	}
	got, err := s.run(s.app, env, given)
	if err != nil {
		s.Fatal(err)
	}
	return got
}

// idmint runs the static program.
func (s *stage) idmint(args ...string) string {
	s.Helper()
	cmd := exec.Command(static, append(args, "--db", s.dsn)...)
	var stderr bytes.Buffer // what a busy machine makes it say does not count
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		s.Fatalf("idmint %v: %v: %s", args, err, &stderr)
	}
	return string(out)
}

// running are the numbers of launches that have not ended.
func (s *stage) running() (ids []string) {
	s.Helper()
	for line := range strings.Lines(s.idmint("launch", "list", "--running")) {
		ids = append(ids, strings.Fields(line)[0])
	}
	return ids[1:] // without the heading
}

// newStage makes a database with a launch log, and the programs that the scripts call.
func newStage(t *testing.T, r recipe) *stage {
	t.Helper()
	s := &stage{
		T: t, recipe: r, dir: t.TempDir(), bin: t.TempDir(),
		dsn: dbtest.New(t, databases.Postgres).URL(),
	}
	if err := os.Symlink(static, filepath.Join(s.bin, "idmint")); err != nil {
		t.Fatal(err)
	}
	s.addApp(shop)
	s.idmint("migrate")
	return s
}

// addApp makes the program of a place, which joins its launch and prints it.
func (s *stage) addApp(p place) {
	s.Helper()
	program, err := os.Executable()
	if err != nil {
		s.Fatal(err)
	}
	app := fmt.Sprintf("#!/bin/sh\nexec env %s=%s '%s'\n", joining,
		cmp.Or(s.service, p.service), program)
	for _, file := range []string{filepath.Join(s.bin, p.service), filepath.Join(s.dir, "deploy")} {
		// No process begins while the file is open: it would have the file open until it runs its
		// own program, and nobody could run a file that is open for writing.
		syscall.ForkLock.RLock()
		err := os.WriteFile(file, []byte(app), 0o700)
		syscall.ForkLock.RUnlock()
		if err != nil {
			s.Fatal(err)
		}
	}
}

// at is another place, with machines of its own and the same log.
func (s *stage) at(p place, r recipe) *stage {
	s.Helper()
	other := &stage{T: s.T, recipe: r, dir: s.TempDir(), bin: s.bin, dsn: s.dsn}
	other.addApp(p)
	return other
}

// written is what the files of the folder hold. An empty file gives an app nothing.
func (s *stage) written() map[string]string {
	s.Helper()
	files, err := filepath.Glob(s.dir + "/*")
	if err != nil {
		s.Fatal(err)
	}
	held := map[string]string{}
	for _, file := range files {
		if text := read(s.T, file); len(text) > 0 {
			held[filepath.Base(file)] = string(text)
		}
	}
	return held
}

// mustFail runs the script that starts a launch. It hands nothing on, and keeps what is there: the
// app that runs may start again at any time.
func (s *stage) mustFail(script string, env map[string]string) {
	s.Helper()
	before := s.written()
	if out, err := s.run(script, env); err == nil || out != "" {
		s.Errorf("to start gives %q, %v", out, err)
	}
	if after := s.written(); !maps.Equal(before, after) {
		s.Errorf("files held %q, and hold %q", before, after)
	}
}

// withoutLog fails to start a launch, since the log is away.
func (s *stage) withoutLog(env map[string]string) {
	s.Helper()
	dsn := s.dsn
	defer func() { s.dsn = dsn }()
	s.dsn = "postgres://127.0.0.1:1/none?connect_timeout=1"
	s.mustFail(strings.ReplaceAll(s.start, "launch start", "launch start --wait 100ms"), env)
}

// Each recipe starts a launch once for a deployment. What is tried again has the same, and the next
// deployment another one. Former launches end when no app of theirs runs any more, or never. Where
// no launch can be started, it stops, and hands nothing on.
func TestRecipes(t *testing.T) {
	for name, load := range recipes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testRecipe(t, load)
		})
	}
}

func testRecipe(t *testing.T, load func(*testing.T, place) recipe) {
	s := newStage(t, load(t, shop))
	s.withoutLog(s.first)
	for _, env := range []map[string]string{s.first, s.again} {
		if got := s.deploy(env); got != "1" {
			t.Fatalf("the app has launch %q, want 1", got)
		}
	}
	s.withoutLog(s.next)
	s.mustFail(s.start, with(s.next, "APP_ENV", "")) // a place that was not named
	// Another service, and the same one elsewhere, have launches of their own. The platform gives
	// them the same run, revision, tag or folder. They leave the first one alone, and it leaves them.
	for i, p := range []place{{"blog", shop.env}, {shop.service, "staging"}} {
		other := s.at(p, load(t, p))
		if got, want := other.deploy(other.first), strconv.Itoa(2+i); got != want {
			t.Fatalf("%v has launch %q, want %s", p, got, want)
		}
		if other.finish != "" {
			if _, err := other.run(other.finish, other.first); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := s.deploy(s.next); got != "4" {
		t.Fatalf("the app of the next deployment has launch %q, want 4", got)
	}
	if s.finish != "" {
		if got := strings.Join(s.running(), " "); got != "4 3 2 1" {
			t.Errorf("while old apps run, launches %s do", got)
		}
		for range 2 {
			if got, err := s.run(s.finish, s.next); err != nil || got != "4\n" {
				t.Errorf("to finish gives %q, %v", got, err)
			}
		}
	}
	want := "4 3 2"
	if s.keeps {
		want += " 1"
	}
	if got := strings.Join(s.running(), " "); got != want {
		t.Errorf("in the end launches %s run, want %s", got, want)
	}
	if s.keeps { // a rollback
		if got := s.deploy(s.first); got != "1" {
			t.Errorf("after a rollback the app has launch %q", got)
		}
		return
	}
	// The first deployment is run again, much later: it fails, and hands no number on.
	s.mustFail(s.start, s.first)
	if got := strings.Join(s.running(), " "); got != want {
		t.Errorf("an old deployment ended launches: %s run, want %s", got, want)
	}
}
