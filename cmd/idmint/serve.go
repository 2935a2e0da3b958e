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

// passwordVariable holds the password of the pages: others see a command line.
const passwordVariable = "IDMINT_SERVE_PASSWORD"

const (
	// farewell is how long requests may go on that are under way when the command ends.
	farewell = 5 * time.Second
	// longestHead bounds the head of a request. A query of 8,192 characters takes 96 KiB, where each
	// has four bytes, and all are escaped.
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
		Long: `Show the launch log and explain IDs on web pages, until Ctrl-C or a request to
terminate. The pages write nothing: a role that may only SELECT is enough.
Without --db they explain IDs, and that is all.

The address is printed when the pages can be asked for. They listen on this
machine alone unless --listen says otherwise. Beyond it they want
authentication: --user with a password in ` + passwordVariable + ` or
--password-file. Put TLS in front of them, by a proxy. One that authenticates
people itself sends that password in their place.

Without authentication the pages answer for addresses and for this machine's
names. Name others by --host. So a stranger's page in a browser, whose name
leads here, reads nothing.

/healthz answers 200, or 503 where the log is away or a check finds something.
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
		"the address to listen on; port 0 is any that is free")
	f.StringVar(&s.prefix, "prefix", "",
		"the path under which a proxy passes requests on, such as /idmint")
	f.StringArrayVar(&s.hosts, "host", nil,
		"a name that the pages answer for, beside addresses; may be given again (default those "+
			"of this machine without authentication, otherwise any)")
	f.StringVar(&s.user, "user", "", "the user of basic authentication")
	f.StringVar(&s.passwordFile, "password-file", "",
		"the file with the user's password (default $"+passwordVariable+")")
	f.BoolVar(&s.open, "open", false,
		"let everybody in who reaches an address beyond this machine")
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

// reachable is an address for a browser. One that stands for all of this machine's has its name.
func reachable(address net.Addr) string {
	at, err := netip.ParseAddrPort(address.String())
	name, unnamed := os.Hostname()
	if err != nil || unnamed != nil || !at.Addr().IsUnspecified() {
		return address.String()
	}
	return net.JoinHostPort(name, strconv.Itoa(int(at.Port())))
}

// serve answers until the context ends. To be ended so is no error.
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
	if errors.Is(err, context.DeadlineExceeded) { // who still asks is cut off
		err = server.Close()
	}
	<-ended
	return err
}

// A warner writes what a server has to say.
type warner struct{ *app }

func (w warner) Write(line []byte) (int, error) {
	w.warn("%s", strings.TrimSpace(string(line)))
	return len(line), nil
}

// options are those of the pages.
func (s *serving) options() (*viewer.Options, error) {
	opts := &viewer.Options{Hosts: s.hosts}
	if p := s.prefix; p != "" && (path.Clean("/"+p) != p || strings.ContainsAny(p, "{}")) {
		return nil, usage("--prefix %q: want a path such as /idmint", s.prefix)
	}
	auth, err := s.auth()
	if err != nil {
		return nil, err
	}
	opts.Auth = auth
	for _, host := range s.hosts {
		if host == "" || strings.ContainsAny(host, "/ \t@") {
			return nil, usage("--host %q: want a name such as pages.example", host)
		}
	}
	local, err := isLoopback(s.listen)
	switch {
	case err != nil:
		return nil, usage("--listen %q: want an address such as 127.0.0.1:8390", s.listen)
	case !local && auth == nil && !s.open:
		return nil, usage("--listen %s: others than this machine may reach that: give --user, "+
			"or --open to let everybody in", s.listen)
	case auth == nil && len(s.hosts) == 0:
		opts.Hosts = ownNames(local)
	}
	return opts, nil
}

// ownNames are those of this machine. Others ask for it by its host name.
func ownNames(local bool) []string {
	names := []string{"localhost"}
	if name, err := os.Hostname(); err == nil && !local {
		names = append(names, name)
	}
	return names
}

// isLoopback reports whether this machine alone reaches an address.
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

// auth says who may see the pages. It is nil for everybody.
func (s *serving) auth() (*viewer.Auth, error) {
	if s.user == "" {
		switch {
		case s.passwordFile != "":
			return nil, usage("--password-file: whose? name the --user")
		case os.Getenv(passwordVariable) != "":
			return nil, usage("%s is set: whose? name the --user", passwordVariable)
		}
		return nil, nil
	}
	if strings.Contains(s.user, ":") {
		return nil, usage("--user %q: has a colon, which basic authentication cannot send", s.user)
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

// launches opens the launch log to be read, with its metrics.
func (s *serving) launches(ctx context.Context, opts *viewer.Options) (
	*launchlog.Log, func(), error,
) {
	d, err := s.flags.launchLog()
	if err != nil {
		return nil, nil, err
	}
	set := new(telemetry.Set)
	metrics := promid.New(set)
	s.flags.clockless = d.Kind == dsn.ZooKeeper // which tells its time only to who writes a znode
	log, done, err := s.flags.openIn(ctx, d, launchlog.Options{Observe: metrics.Step})
	if err != nil {
		return nil, nil, err
	}
	registry := prometheus.NewRegistry()
	opts.Readings = doctor.NewWatch(log, nil) // of the pages and of the metrics
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
