package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/spf13/cobra"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/doctor"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/telemetry"
	"github.com/idmint/idmint/telemetry/promid"
	"github.com/idmint/idmint/viewer"
)

// passwordVariable holds the password of the pages, because other users can see a command line.
const passwordVariable = "IDMINT_SERVE_PASSWORD"

const (
	// farewell is how long requests may still run when the command ends.
	farewell = 5 * time.Second
	// longestHead limits the head of a request. A query of 8,192 characters takes 96 KiB if each
	// has four bytes and all are escaped.
	longestHead = 128 << 10
)

// A serving is a run of serve.
type serving struct {
	*app
	flags        storeFlags
	listen       string
	prefix       string
	hosts        []string
	user         string
	passwordFile string
	open         bool // without authentication, beyond this machine
}

func (a *app) serveCommand() *cobra.Command {
	s := serving{app: a}
	c := &cobra.Command{
		Use:   "serve [--db DSN] [--listen ADDR]",
		Short: "Show the launch log and explain IDs on web pages",
		Long: `Show the launch log and explain IDs on web pages, until Ctrl-C or SIGTERM. The
pages write nothing, so a role that may only SELECT is enough. Without --db they
only explain IDs.

The command prints the address once the pages answer. By default they listen on
this machine alone. If --listen makes them reachable from others, they require
authentication, by --user with a password in ` + passwordVariable + ` or
--password-file, unless --open is given. Put a proxy with TLS in front of them. A
proxy that authenticates people itself sends that password for them.

Without authentication the pages answer only requests for IP addresses and for
this machine's names, and for names given by --host, so that another site in a
browser cannot read them by a name that leads here.

/healthz answers 200, or 503 if the log does not answer or a check has a finding.
/metrics is for Prometheus.`,
		Example: "  idmint serve --db sqlite:app.db",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, cancel := interruptible(c)
			defer cancel()
			return s.run(ctx)
		},
	}
	s.flags.add(c)
	s.flags.reading = true
	f := c.Flags()
	f.StringVar(&s.listen, "listen", "127.0.0.1:8390",
		"the address to listen on; port 0 is any free port")
	f.StringVar(&s.prefix, "prefix", "",
		"the path under which a proxy forwards requests, such as /idmint")
	f.StringArrayVar(&s.hosts, "host", nil,
		"a name, besides IP addresses, that the pages answer for; may be repeated (default this "+
			"machine's names without authentication, otherwise any)")
	f.StringVar(&s.user, "user", "", "the user for basic authentication")
	f.StringVar(&s.passwordFile, "password-file", "",
		"the file with the user's password (default $"+passwordVariable+")")
	f.BoolVar(&s.open, "open", false,
		"let in everybody who can reach the address, without authentication")
	return c
}

func (s *serving) run(ctx context.Context) error {
	opts, err := s.options()
	if err != nil {
		return err
	}
	var log *launchlog.Log
	if s.flags.name.isGiven() {
		var done func()
		if log, done, err = s.launches(ctx, opts); err != nil {
			return err
		}
		defer done()
	}
	pages, err := viewer.New(log, opts)
	if err != nil {
		return usageError{err}
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", s.listen)
	if err != nil {
		return fmt.Errorf("--listen %s: %w", s.listen, err)
	}
	if err := s.out.printf("http://%s%s/\n", reachable(listener.Addr()), s.prefix); err != nil {
		return errors.Join(err, listener.Close())
	}
	if err := s.out.flush(); err != nil {
		return errors.Join(err, listener.Close())
	}
	return s.serve(ctx, listener, pages)
}

// reachable returns an address for a browser, in which this machine's name replaces an unspecified
// address.
func reachable(address net.Addr) string {
	at, err := netip.ParseAddrPort(address.String())
	name, unnamed := os.Hostname()
	if err != nil || unnamed != nil || !at.Addr().IsUnspecified() {
		return address.String()
	}
	return net.JoinHostPort(name, strconv.Itoa(int(at.Port())))
}

// serve answers requests until the context ends, which is not an error.
func (s *serving) serve(ctx context.Context, listener net.Listener, pages http.Handler) error {
	mux := http.NewServeMux()
	mux.Handle(s.prefix+"/", http.StripPrefix(s.prefix, pages))
	server := &http.Server{
		Handler:           mux,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    longestHead,
		ErrorLog:          log.New(warner{s.app}, "", 0),
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer cancel()
	err := server.Shutdown(late)
	if errors.Is(err, context.DeadlineExceeded) { // requests that still run are cut off
		err = server.Close()
	}
	<-ended
	return err
}

// A warner writes the log lines of an HTTP server as warnings.
type warner struct{ *app }

func (w warner) Write(line []byte) (int, error) {
	w.warn("%s", strings.TrimSpace(string(line)))
	return len(line), nil
}

// options returns the options of the pages.
func (s *serving) options() (*viewer.Options, error) {
	opts := &viewer.Options{Hosts: s.hosts}
	if p := s.prefix; p != "" && (path.Clean("/"+p) != p || strings.ContainsAny(p, "{}")) {
		return nil, usage("--prefix %q: must be a path such as /idmint", s.prefix)
	}
	auth, err := s.auth()
	if err != nil {
		return nil, err
	}
	opts.Auth = auth
	for _, host := range s.hosts {
		if host == "" || strings.ContainsAny(host, "/ \t@") {
			return nil, usage("--host %q: must be a name such as pages.example", host)
		}
	}
	local, err := isLoopback(s.listen)
	switch {
	case err != nil:
		return nil, usage("--listen %q: must be an address such as 127.0.0.1:8390", s.listen)
	case !local && auth == nil && !s.open:
		return nil, usage("--listen %s: other machines may reach this address: give --user, "+
			"or --open to let everybody in", s.listen)
	case auth == nil && len(s.hosts) == 0:
		opts.Hosts = ownNames(local)
	}
	return opts, nil
}

// ownNames returns the names of this machine. Other machines use its host name.
func ownNames(local bool) []string {
	names := []string{"localhost"}
	if name, err := os.Hostname(); err == nil && !local {
		names = append(names, name)
	}
	return names
}

// isLoopback reports whether only this machine can reach an address.
func isLoopback(address string) (bool, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false, err
	}
	if host == "localhost" {
		return true, nil
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback(), nil
}

// auth returns who may see the pages, or nil for everybody.
func (s *serving) auth() (*viewer.Auth, error) {
	if s.user == "" {
		switch {
		case s.passwordFile != "":
			return nil, usage("--password-file needs --user")
		case os.Getenv(passwordVariable) != "":
			return nil, usage("%s is set, which needs --user", passwordVariable)
		}
		return nil, nil
	}
	if strings.Contains(s.user, ":") {
		return nil, usage("--user %q: must not have a colon, which basic authentication cannot "+
			"send", s.user)
	}
	auth := &viewer.Auth{User: s.user, Password: os.Getenv(passwordVariable)}
	if s.passwordFile != "" {
		data, err := os.ReadFile(s.passwordFile)
		if err != nil {
			return nil, fmt.Errorf("--password-file: %w", err)
		}
		auth.Password = strings.TrimRight(string(data), "\r\n")
	}
	if auth.Password == "" {
		return nil, usage("--user %s: the password is missing: set %s, or name a --password-file",
			s.user, passwordVariable)
	}
	return auth, nil
}

// launches opens the launch log for reading, with its metrics.
func (s *serving) launches(ctx context.Context, opts *viewer.Options) (
	*launchlog.Log, func(), error,
) {
	d, err := s.flags.launchLog()
	if err != nil {
		return nil, nil, err
	}
	set := new(telemetry.Set)
	metrics := promid.New(set)
	s.flags.clockless = d.Kind == dsn.ZooKeeper // tells its time only to writers
	log, done, err := s.flags.openIn(ctx, d, launchlog.Options{Observe: metrics.Step})
	if err != nil {
		return nil, nil, err
	}
	registry := prometheus.NewRegistry()
	opts.Readings = doctor.NewWatch(log, nil) // for the pages and the metrics
	watching := &telemetry.WatchOptions{Readings: opts.Readings}
	if err := errors.Join(set.Watch(log, watching), registry.Register(metrics)); err != nil {
		done()
		return nil, nil, err
	}
	opts.Metrics = promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		Timeout: s.flags.wait, MaxRequestsInFlight: 4,
	})
	return log, done, nil
}
