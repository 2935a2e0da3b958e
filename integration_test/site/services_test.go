package site_test

import (
	"net"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
)

// freeAddresses are two that nobody listens at. On Linux nobody else takes them: this process has a
// loopback address of its own.
func freeAddresses(t *testing.T) (first, second string) {
	t.Helper()
	host := "localhost"
	if pid := os.Getpid(); runtime.GOOS == "linux" {
		host = net.IPv4(127, byte(64+pid>>16), byte(pid>>8), byte(pid)).String()
	}
	listen := func() net.Listener {
		listener, err := net.Listen("tcp", host+":0")
		check(t, err)
		return listener
	}
	a, b := listen(), listen() // at once, so that they differ
	defer a.Close()
	defer b.Close()
	return a.Addr().String(), b.Addr().String()
}

// The two services of docs/operate/deployments.md run as the page says, in PostgreSQL, and print what it
// shows. So do the next deployment and the rollback. A service with another one's launch says what
// the page says.
func TestTwoServices(t *testing.T) {
	t.Parallel()
	const page = "docs/operate/deployments.md"
	addr, next := freeAddresses(t)
	script := strings.NewReplacer("localhost:8080", addr, "localhost:8081", next,
		"--retry 20 ", "--retry 300 ", // a busy machine starts a service late
		"kill %1\n", // It may end with an error only if its log was slow for the five seconds of Close.
		"kill %1\nbegan=$SECONDS\nwait %1 || [ $((SECONDS - began)) -ge 4 ]\n",
	).Replace(strings.Join(blocks(t, page, "sh"), ""))
	script += "wait\nIDMINT_LAUNCH_ID=1 bin/billing"
	cmd := exec.Command("bash", "-euo", "pipefail", "-c", script)
	cmd.Dir = copied(t)
	cmd.Env = append(os.Environ(), "GOFLAGS=-ldflags=-w", "ORDERS_ADDR="+addr,
		"IDMINT_DB="+dbtest.New(t, databases.Postgres).Source())
	out, err := cmd.CombinedOutput()
	said := regexp.MustCompile(`^(\{|invoice|launchlog:)`) // by the services
	counter := regexp.MustCompile(`invoice \d+0000000002`)
	shown := 0
	if err == nil { // the last command is the one that the page says is refused
		t.Errorf("nothing failed:\n%s", out)
	}
	for _, block := range blocks(t, page, "") {
		for line := range strings.Lines(block) {
			if !said.MatchString(line) {
				continue
			}
			shown++
			// How close two services come depends on when they looked at the log.
			want := counter.ReplaceAllString(regexp.QuoteMeta(line), `invoice \d+0000000002`)
			if !regexp.MustCompile(`(?m)` + want).Match(out) {
				t.Errorf("%s shows %q, and the services said\n%s", page, line, out)
			}
		}
	}
	if shown != 5 {
		t.Errorf("%s shows %d lines of the services", page, shown)
	}
	for _, want := range []string{
		`(?m)^4 +orders +production.* running`, `(?m)^3 +orders +production.* running`,
		`(?m)^2 +billing +production.* running`, `(?m)^1 +orders +production.* superseded`,
	} {
		if !regexp.MustCompile(want).Match(out) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}
