// Package pgbouncer puts PgBouncer in transaction mode between a test and its PostgreSQL server.
package pgbouncer

import (
	"archive/tar"
	"bytes"
	"context"
	_ "embed" // the image
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/moby/moby/api/types/container"
	"github.com/testcontainers/testcontainers-go"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/internal/dialect"
)

var (
	//go:embed Dockerfile
	dockerfile []byte
	//go:embed pgbouncer.ini
	config string
)

// New starts a PgBouncer for the test in a container, and returns the name of d's database by way
// of it. The container shares the network of this machine, because the server may listen only on
// the loopback address. If no Docker engine answers, the test is skipped, or fails with CI set.
func New(t testing.TB, d dsn.DSN) dsn.DSN {
	t.Helper()
	if err := databases.Docker(t.Context()); err != nil && os.Getenv("CI") == "" {
		t.Skipf("no PgBouncer: %v. `make test` installs what is missing", err)
	}
	server, err := url.Parse(d.Source())
	if err != nil {
		t.Fatal(err)
	}
	port, err := databases.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	secret, _ := server.User.Password()
	quoted := strings.NewReplacer("'", "''")
	ini := fmt.Sprintf(config,
		quoted.Replace(server.User.Username()), server.Hostname(), server.Port(),
		quoted.Replace(secret), port, connections)
	base := "postgres:17"
	// testcontainers adds it to the images that it runs
	if prefix := os.Getenv("TESTCONTAINERS_HUB_IMAGE_NAME_PREFIX"); prefix != "" {
		base = prefix + "/" + base
	}
	c, err := testcontainers.Run(t.Context(), "",
		testcontainers.WithDockerfile(testcontainers.FromDockerfile{
			ContextArchive: archive(t), BuildArgs: map[string]*string{"POSTGRES": &base},
			Repo: "idmint-test/pgbouncer", Tag: "17", KeepImage: true,
		}),
		testcontainers.WithFiles(testcontainers.ContainerFile{
			Reader: strings.NewReader(ini), ContainerFilePath: "/etc/idmint.ini", FileMode: 0o644,
		}),
		testcontainers.WithLabels(databases.Labels()),
		testcontainers.WithHostConfigModifier(func(c *container.HostConfig) {
			c.NetworkMode = "host"
		}),
		testcontainers.WithLogger(log.New(io.Discard, "", 0)),
	)
	if c != nil {
		t.Cleanup(func() {
			if err := testcontainers.TerminateContainer(c,
				testcontainers.StopTimeout(0)); err != nil {
				t.Log(err)
			}
		})
	}
	if err != nil {
		t.Fatalf("PgBouncer: %v", err)
	}
	through := d.WithHost(net.JoinHostPort("127.0.0.1", port))
	if err := await(t.Context(), through); err != nil {
		t.Fatalf("%v\n%s", err, databases.LogOf(c))
	}
	return through
}

// connections is how many connections PgBouncer has to the server for each database.
const connections = 3

// Leak sets something for the session on each of these connections, and leaves it there, as a
// client does that does not know about the pooler.
func Leak(t testing.TB, through dsn.DSN, set string) {
	t.Helper()
	var clients [connections]*pgx.Conn
	for i := range clients {
		c, err := pgx.Connect(t.Context(), through.Source())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close(t.Context())
		clients[i] = c
	}
	for _, text := range []string{"BEGIN", set, "COMMIT"} { // until COMMIT, each has a connection
		for _, c := range clients {
			if _, err := c.Exec(t.Context(), text, pgx.QueryExecModeSimpleProtocol); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
		}
	}
}

// startTime limits how long PgBouncer may take until it answers.
const startTime = 2 * time.Minute

func await(ctx context.Context, d dsn.DSN) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	var err error
	for range dialect.Attempts(ctx, 100*time.Millisecond) {
		var conn *pgx.Conn
		if conn, err = pgx.Connect(ctx, d.Source()); err == nil {
			return conn.Close(ctx)
		}
	}
	return fmt.Errorf("%v does not answer: %w", d, errors.Join(ctx.Err(), err))
}

// archive returns the context of the image's build. Its times are constant, so that an image is
// built only once.
func archive(t testing.TB) *bytes.Reader {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	err := w.WriteHeader(&tar.Header{Name: "Dockerfile", Mode: 0o644, Size: int64(len(dockerfile))})
	if err == nil {
		_, err = w.Write(dockerfile)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(b.Bytes())
}
