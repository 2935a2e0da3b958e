// Package cassandradoctor checks a Cassandra cluster that keeps a launch log, in addition to what
// package doctor checks in every log, and changes nothing.
//
//	results, identity, err := cassandradoctor.Check(ctx, config) // the config of package cassandra
//	more, err := doctor.Log(ctx, log)                             // what the log holds
//
// The identity is for [doctor.Look], and changes if another cluster answers, if nodes were
// replaced, or if the log was recreated.
//
// The checks read the settings of nodes from the table system_views.settings, on which the role
// needs SELECT. If [cassandra.Config].DataCenter is set, they do not ask nodes of other data
// centers.
package cassandradoctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/idmint/idmint/internal/named"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/cassandra"
	"github.com/idmint/idmint/launchlog/checks"
)

// answerTime is how long a node may take to answer before it counts as down.
const answerTime = 3 * time.Second

// Check asks each of the nodes, which it learns from the first of the config's hosts that answers,
// and waits up to 3 s for each answer. Nodes that do not answer are reported in a result. If no
// host answers, the error is a [*launchlog.AttemptError]. Other errors wrap a
// [*launchlog.RequestError] about the config, or the context's error.
func Check(ctx context.Context, config cassandra.Config) (
	results []checks.Result, identity map[string]string, err error,
) {
	config, err = config.Checked()
	if err != nil {
		return nil, nil, err
	}
	c := &cluster{config: config}
	defer c.close()
	if err := c.open(ctx); err != nil {
		return nil, nil, named.Failed("cassandradoctor", err)
	}
	results, err = checks.Examine(ctx, c, probes, func(ctx context.Context) error {
		_, err := c.rows(ctx, `SELECT host_id FROM system.local`)
		return err
	})
	if err != nil {
		return results, nil, named.Failed("cassandradoctor", err)
	}
	return results, c.identity(ctx), nil
}

var probes = []checks.Probe[*cluster]{
	{Code: "cassandra.version", Look: version},
	{Code: "cassandra.replication", Look: replication},
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
	asked   *cassandra.Session // with the first of the hosts that answers
	hosts   []host             // the members that are asked
	members []member           // of all data centers
	name    string
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

// open asks one host for the other nodes, and all of them for their time.
func (c *cluster) open(ctx context.Context) error {
	var errs []error
	for _, node := range c.config.Hosts {
		h := host{address: node}
		if h.ask(ctx, c.config); h.err == nil {
			c.asked, c.hosts = h.session, []host{h}
			break
		}
		errs = append(errs, fmt.Errorf("%s: %w", node, h.err))
	}
	switch {
	case c.asked != nil:
	case ctx.Err() != nil:
		return ctx.Err()
	default:
		return &launchlog.AttemptError{Err: errors.Join(errs...)}
	}
	if err := c.look(ctx); err != nil {
		return err
	}
	var all sync.WaitGroup
	for i := range c.hosts[1:] {
		all.Go(func() { c.hosts[1+i].ask(ctx, c.config) })
	}
	all.Wait()
	slices.SortFunc(c.hosts, func(a, b host) int { return cmp.Compare(a.address, b.address) })
	return nil
}

func (h *host) ask(ctx context.Context, config cassandra.Config) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	if h.session, h.err = config.Session(ctx, h.address); h.err != nil {
		return
	}
	h.before = time.Now()
	h.err = h.session.Query(`SELECT toTimestamp(now()) FROM system.local`).
		Consistency(gocql.One).ScanContext(ctx, &h.now)
	h.after = time.Now()
	if h.err != nil {
		h.session.Close()
	}
}

func (c *cluster) close() {
	var all sync.WaitGroup
	for _, h := range c.hosts {
		if h.session != nil && h.err == nil {
			all.Go(h.session.Close)
		}
	}
	all.Wait()
}

// look reads what every node knows.
func (c *cluster) look(ctx context.Context) error {
	local, err := c.rows(ctx, `SELECT cluster_name, host_id, data_center, release_version
		FROM system.local`)
	if err != nil {
		return err
	}
	peers, err := c.rows(ctx, `SELECT host_id, data_center, release_version, native_address,
		native_port FROM system.peers_v2`)
	if err != nil {
		return err
	}
	c.name = fmt.Sprint(local[0]["cluster_name"])
	for i, m := range append(local, peers...) {
		own := member{
			fmt.Sprint(m["host_id"]), fmt.Sprint(m["data_center"]),
			fmt.Sprint(m["release_version"]),
		}
		c.members = append(c.members, own)
		if i > 0 && (c.config.DataCenter == "" || c.config.DataCenter == own.dataCenter) {
			c.hosts = append(c.hosts, host{address: net.JoinHostPort(
				fmt.Sprint(m["native_address"]), fmt.Sprint(m["native_port"]),
			)})
		}
	}
	keys, err := c.rows(ctx, `SELECT replication, durable_writes FROM system_schema.keyspaces
		WHERE keyspace_name = ?`, c.config.Keyspace)
	if err == nil && len(keys) == 1 {
		c.keys = newKeyspace(keys[0])
	}
	return err
}

// rows queries the node that answered.
func (c *cluster) rows(ctx context.Context, query string, args ...any) ([]map[string]any, error) {
	return rows(ctx, c.asked, query, args...)
}

func rows(
	ctx context.Context, node *cassandra.Session, query string, args ...any,
) ([]map[string]any, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	return node.Query(query, args...).Consistency(gocql.One).IterContext(ctx).SliceMap()
}

// setting asks a node for a setting, and returns "" if the node does not have it.
func setting(ctx context.Context, node *cassandra.Session, name string) (value string, err error) {
	found, err := rows(ctx, node, `SELECT value FROM system_views.settings WHERE name = ?`, name)
	if len(found) == 1 {
		value, _ = found[0]["value"].(string)
	}
	return value, err
}

// identity returns how the cluster identifies itself, including the random name of the log's table.
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
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	var rows string // the table of the log's rows
	err := c.asked.Query(`SELECT rows FROM "`+c.config.Keyspace+`".idmint_log WHERE name = 'log'`).
		Consistency(level).ScanContext(ctx, &rows)
	if err == nil {
		identity["log"] = rows
	}
	return identity
}
