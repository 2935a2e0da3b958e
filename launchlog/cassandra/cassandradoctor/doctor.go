// Package cassandradoctor checks a Cassandra cluster that keeps a launch log, beside what package
// doctor checks of every log. It changes nothing.
//
//	results, identity, err := cassandradoctor.Check(ctx, config) // the config of package cassandra
//	more, err := doctor.Log(ctx, log, nil)                        // what the log holds
//
// The identity is for [doctor.Look]. It differs where another cluster answers, where nodes were
// replaced, and where the log was made anew.
//
// Settings of nodes are read from the table system_views.settings, on which the role needs SELECT.
// Nodes of other data centres than [cassandra.Config].DataCenter are not asked.
package cassandradoctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/idmint/idmint/doctor"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/cassandra"
)

// A node that does not answer within answerTime counts as away.
const answerTime = 3 * time.Second

// Check asks each of the nodes, within 3 s each time. Nodes that do not answer are a result. It
// waits up to 10 s for a cluster of which none does. Errors are those of [cassandra.Open], and a
// [*launchlog.AttemptError] where none answers any more.
func Check(ctx context.Context, config cassandra.Config) (
	results []doctor.Result, identity map[string]string, err error,
) {
	session, err := config.Session(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer session.Close()
	c := &cluster{config: config, session: session}
	defer c.close()
	if err := c.open(ctx); err != nil {
		return nil, nil, &failure{err}
	}
	results, err = doctor.Examine(ctx, c, probes, func(ctx context.Context) error {
		return one(ctx, c.asked, `SELECT host_id FROM system.local`, nil, new(string))
	})
	if err != nil {
		return results, nil, err
	}
	return results, c.identity(ctx), nil
}

var probes = []doctor.Probe[*cluster]{
	{Code: "cassandra.version", Look: version},
	{Code: "cassandra.replication", Look: replication},
	{Code: "cassandra.serial", Look: serial},
	{Code: "cassandra.nodes", Look: nodes},
	{Code: "cassandra.paxos", Look: paxos},
	{Code: "cassandra.commitlog", Look: commitlog},
	{Code: "cassandra.clocks", Look: clocks},
	{Code: "cassandra.table", Look: table},
	{Code: "cassandra.rights", Look: rights},
}

// A cluster is what the probes ask.
type cluster struct {
	config  cassandra.Config
	session *cassandra.Session
	asked   *cassandra.Session // with a node that answers
	name    string
	members []member // of all data centres
	hosts   []host   // that are asked
	keys    keyspace
}

type member struct{ id, dataCenter, version string }

// A host is a node that is asked.
type host struct {
	address       string
	session       *cassandra.Session
	before, after time.Time // around now
	now           time.Time // by the node's clock
	err           error     // why it does not answer
}

// open asks all nodes for their time, and one of them for the others. Each has a session of its
// own: the driver tries a node that is away for ever, where a query names it.
func (c *cluster) open(ctx context.Context) error {
	for _, h := range c.session.GetHosts() {
		c.hosts = append(c.hosts, host{address: h.ConnectAddressAndPort()})
	}
	slices.SortFunc(c.hosts, func(a, b host) int { return cmp.Compare(a.address, b.address) })
	var all sync.WaitGroup
	for i := range c.hosts {
		all.Go(func() { c.hosts[i].ask(ctx, c.config) })
	}
	all.Wait()
	var errs []error
	for _, h := range c.hosts {
		if h.err == nil {
			c.asked = h.session
			break
		}
		errs = append(errs, fmt.Errorf("%s: %w", h.address, h.err))
	}
	switch {
	case c.asked != nil:
		return c.look(ctx)
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return &launchlog.AttemptError{Err: errors.Join(errs...)}
}

func (h *host) ask(ctx context.Context, config cassandra.Config) {
	within, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	if h.session, h.err = config.SessionOf(within, h.address); h.err != nil {
		return
	}
	h.before = time.Now()
	h.err = one(ctx, h.session, `SELECT toTimestamp(now()) FROM system.local`, nil, &h.now)
	h.after = time.Now()
}

func (c *cluster) close() {
	var all sync.WaitGroup
	for _, h := range c.hosts {
		if h.session != nil {
			all.Go(h.session.Close)
		}
	}
	all.Wait()
}

// look reads what all nodes know.
func (c *cluster) look(ctx context.Context) error {
	var own member
	err := one(ctx, c.asked, `SELECT cluster_name, host_id, data_center, release_version
		FROM system.local`, nil, &c.name, &own.id, &own.dataCenter, &own.version)
	if err != nil {
		return err
	}
	c.members = append(c.members, own)
	err = c.each(ctx, `SELECT host_id, data_center, release_version FROM system.peers_v2`,
		func(scan func(...any) bool) {
			for m := (member{}); scan(&m.id, &m.dataCenter, &m.version); m = (member{}) {
				c.members = append(c.members, m)
			}
		})
	if err != nil {
		return err
	}
	return c.keys.read(ctx, c)
}

// one asks a node for a row.
func one(
	ctx context.Context, node *cassandra.Session, query string, args []any, columns ...any,
) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	return node.Query(query, args...).Consistency(gocql.One).ScanContext(ctx, columns...)
}

// each asks the node that answers for rows.
func (c *cluster) each(
	ctx context.Context, query string, read func(scan func(...any) bool),
) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	rows := c.asked.Query(query).Consistency(gocql.One).IterContext(ctx)
	read(rows.Scan)
	return rows.Close()
}

// setting asks a node for one, empty where it has none of that name.
func setting(ctx context.Context, node *cassandra.Session, name string) (value string, err error) {
	err = one(ctx, node, `SELECT value FROM system_views.settings WHERE name = ?`,
		[]any{name}, &value)
	if errors.Is(err, gocql.ErrNotFound) {
		err = nil
	}
	return value, err
}

// identity is what the cluster says of itself. The log's table has a random name.
func (c *cluster) identity(ctx context.Context) map[string]string {
	var ids []string
	for _, m := range c.members {
		ids = append(ids, m.id)
	}
	slices.Sort(ids)
	identity := map[string]string{"cluster": c.name, "nodes": strings.Join(ids, " ")}
	level := gocql.Quorum
	if c.config.LocalSerial {
		level = gocql.LocalQuorum
	}
	for range len(c.hosts) { // each time another node, where one does not answer
		var rows string // the table of the log's rows, which is named by a random word
		within, cancel := context.WithTimeout(ctx, answerTime)
		err := c.session.Query(`SELECT rows FROM "`+c.config.Keyspace+
			`".idmint_log WHERE name = 'log'`).Consistency(level).ScanContext(within, &rows)
		cancel()
		if err == nil {
			identity["log"] = rows
		}
		if err == nil || errors.Is(err, gocql.ErrNotFound) {
			break
		}
	}
	return identity
}

// A failure is why nothing could be checked, behind the package's name.
type failure struct{ err error }

func (e *failure) Error() string { return "cassandradoctor: " + e.err.Error() }
func (e *failure) Unwrap() error { return e.err }
