// Package zookeeperdoctor checks a ZooKeeper ensemble that keeps a launch log, in addition to what
// package doctor checks in every log, and changes nothing.
//
//	results, identity, err := zookeeperdoctor.Check(ctx, config) // the config of package zookeeper
//	more, err := doctor.Log(ctx, log)                             // what the log holds
//
// The identity is for [doctor.Look], and changes if the log was recreated.
//
// Most checks use four-letter words, and report them as unknown if a server refuses them. By
// default a server answers only srvr, so allow the others in zoo.cfg:
// 4lw.commands.whitelist=srvr,mntr,conf,envi.
package zookeeperdoctor

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/checks"
	"github.com/idmint/idmint/launchlog/zookeeper"
)

// answerTime is how long a server may take to answer a word before it counts as down.
const answerTime = 3 * time.Second

// Check asks each of the servers, and reports those that do not answer in a result. If none serves,
// the error is a [*launchlog.AttemptError]. Other errors wrap a [*launchlog.RequestError] about the
// config, or the context's error.
func Check(ctx context.Context, config zookeeper.Config) (
	results []checks.Result, identity map[string]string, err error,
) {
	config, err = config.Checked()
	if err != nil {
		return nil, nil, err
	}
	e := &ensemble{config: config, servers: make([]server, len(config.Servers))}
	var all sync.WaitGroup
	for i, address := range config.Servers {
		e.servers[i] = server{address: address, tls: config.TLS}
		all.Go(func() { e.servers[i].srvr, e.servers[i].err = e.servers[i].word(ctx, "srvr") })
	}
	all.Wait()
	if err = e.connect(ctx); err == nil {
		defer e.conn.Close()
		defer context.AfterFunc(ctx, e.conn.Close)() // package zk does not observe a context
		results, err = checks.Examine(ctx, e, probes, func(context.Context) error {
			_, _, err := e.conn.Exists("/")
			return err
		})
	}
	switch {
	case err != nil && ctx.Err() != nil:
		err = ctx.Err()
	case err == nil:
		return results, e.identity(), nil
	}
	return results, nil, fmt.Errorf("zookeeperdoctor: %w", err)
}

var probes = []checks.Probe[*ensemble]{
	{Code: "zookeeper.version", Look: version},
	{Code: "zookeeper.servers", Look: servers},
	{Code: "zookeeper.force_sync", Look: forceSync},
	{Code: "zookeeper.failover", Look: failover},
	{Code: "zookeeper.memory", Look: memory},
	{Code: "zookeeper.quota", Look: quota},
	{Code: "zookeeper.acl", Look: acls},
}

// An ensemble is what the probes ask.
type ensemble struct {
	config  zookeeper.Config
	servers []server
	conn    *zk.Conn // to one that serves
}

type server struct {
	address string
	tls     *tls.Config
	srvr    said  // its answer to srvr
	err     error // why there is no answer
}

// said is a server's answer to a word: values by their names.
type said map[string]string

// serves reports whether the server is part of a majority, according to its own answer.
func (s *server) serves() bool { return s.srvr["Mode"] != "" }

// A refusedError means that a server does not answer a word until an operator allows it.
type refusedError struct{ address, word string }

func (e *refusedError) Error() string {
	return fmt.Sprintf("%s refuses the word %s: add it to 4lw.commands.whitelist in zoo.cfg",
		e.address, e.word)
}

// word sends a four-letter word to a server, and parses the answer, whose lines have a name, a
// separator and a value.
func (s *server) word(ctx context.Context, word string) (said, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	conn, err := dial(ctx, s.address, s.tls)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if _, err := io.WriteString(conn, word); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(conn)
	if err != nil && len(text) == 0 {
		return nil, err
	}
	if strings.Contains(string(text), "not in the whitelist") {
		return nil, &refusedError{s.address, word}
	}
	all := said{}
	for line := range strings.Lines(string(text)) {
		if i := strings.IndexAny(line, "\t=:"); i > 0 {
			all[strings.TrimSpace(line[:i])] = strings.TrimSpace(line[i+1:])
		}
	}
	return all, nil
}

func dial(ctx context.Context, address string, config *tls.Config) (net.Conn, error) {
	if config == nil {
		return new(net.Dialer).DialContext(ctx, "tcp", address)
	}
	return (&tls.Dialer{Config: config}).DialContext(ctx, "tcp", address)
}

var errNoQuorum = errors.New("the server has no quorum")

// connect creates a session with the first server that accepts one, even if it refuses srvr.
func (e *ensemble) connect(ctx context.Context) error {
	var errs []error
	for _, s := range e.servers {
		err := s.err
		switch {
		case err == nil && !s.serves():
			err = errNoQuorum
		case err == nil || errors.As(err, new(*refusedError)):
			if e.conn, err = e.config.Session(ctx, s.address); err == nil {
				return nil
			}
		}
		errs = append(errs, fmt.Errorf("%s: %w", s.address, err))
	}
	return &launchlog.AttemptError{Err: errors.Join(errs...)}
}

// get reads a znode, and returns "" if it does not exist.
func (e *ensemble) get(path string) (string, error) {
	text, _, err := e.conn.Get(path)
	if errors.Is(err, zk.ErrNoNode) {
		return "", nil
	}
	return string(text), err
}

// identity returns the transaction that created the log.
func (e *ensemble) identity() map[string]string {
	_, made, err := e.conn.Get(e.config.Path + "/~log/version")
	if err != nil {
		return nil
	}
	return map[string]string{"log": fmt.Sprintf("%x of %s", made.Czxid,
		time.UnixMilli(made.Ctime).UTC().Format(time.DateTime))}
}
