// Package etcddoctor checks an etcd cluster that keeps a launch log, in addition to what package
// doctor checks in every log, and changes nothing.
//
//	results, identity, err := etcddoctor.Check(ctx, config) // the config of package etcd
//	more, err := doctor.Log(ctx, log)                        // what the log holds
//
// The identity is for [doctor.Look], and changes if another cluster answers, if members were
// replaced, or if the log was recreated.
package etcddoctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/checks"
	"github.com/idmint/idmint/launchlog/etcd"
	"github.com/idmint/idmint/launchlog/internal/kv"
)

// answerTime is how long a query waits for its answer.
const answerTime = 3 * time.Second

// Check asks each of the endpoints, waits up to 3 s for each answer, and reports those that do not
// answer in a result. If none answers, the error is a [*launchlog.AttemptError]. Other errors wrap
// a [*launchlog.RequestError] about the config, the context's error, or one about the user and
// password.
func Check(ctx context.Context, config etcd.Config) (
	results []checks.Result, identity map[string]string, err error,
) {
	config, err = config.Checked()
	if err != nil {
		return nil, nil, err
	}
	c := &cluster{config: config}
	defer c.close()
	if err := c.open(ctx); err != nil {
		return nil, nil, fmt.Errorf("etcddoctor: %w", err)
	}
	results, err = checks.Examine(ctx, c, probes, c.look)
	if err != nil {
		return results, nil, fmt.Errorf("etcddoctor: %w", err)
	}
	return results, c.identity(ctx), nil
}

var probes = []checks.Probe[*cluster]{
	{Code: "etcd.version", Look: version},
	{Code: "etcd.members", Look: members},
	{Code: "etcd.alarms", Look: within(alarms)},
	{Code: "etcd.quota", Look: quota},
	{Code: "etcd.compaction", Look: within(compaction)},
	{Code: "etcd.rights", Look: within(rights)},
}

type look = func(context.Context, *cluster, *checks.Reporter) error

// within limits the time of a check's queries.
func within(ask look) look {
	return func(ctx context.Context, c *cluster, r *checks.Reporter) error {
		ctx, cancel := context.WithTimeout(ctx, answerTime)
		defer cancel()
		return ask(ctx, c, r)
	}
}

// A cluster is what the probes ask.
type cluster struct {
	config etcd.Config
	nodes  []node // in the order of the endpoints
	client *clientv3.Client
	list   *clientv3.MemberListResponse
}

type node struct {
	endpoint string
	client   *clientv3.Client
	status   *clientv3.StatusResponse
	err      error // why there is no status
}

// open asks all endpoints at once.
func (c *cluster) open(ctx context.Context) error {
	c.nodes = make([]node, len(c.config.Endpoints))
	var all sync.WaitGroup
	for i, endpoint := range c.config.Endpoints {
		c.nodes[i].endpoint = endpoint
		all.Go(func() { c.nodes[i].ask(ctx, c.config) })
	}
	all.Wait()
	var errs []error
	for _, n := range c.nodes {
		err := n.err
		if err == nil {
			c.client = n.client
			// A node without a leader answers only for itself.
			if err = c.look(ctx); err == nil {
				return nil
			}
		}
		if errors.Is(err, rpctypes.ErrAuthFailed) {
			return err
		}
		errs = append(errs, fmt.Errorf("%s: %w", n.endpoint, err))
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &launchlog.AttemptError{Err: errors.Join(errs...)}
}

// look lists the members, which requires a cluster that answers.
func (c *cluster) look(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	c.list, err = c.client.MemberList(ctx)
	return err
}

func (n *node) ask(ctx context.Context, config etcd.Config) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	if n.client, n.err = config.Client(ctx, n.endpoint); n.err == nil {
		n.status, n.err = n.client.Status(ctx, n.client.Endpoints()[0])
	}
}

func (c *cluster) close() {
	for _, n := range c.nodes {
		if n.client != nil {
			_ = n.client.Close() // nothing is under way
		}
	}
}

func (c *cluster) schemaKey() string {
	return c.config.Prefix + ":" + kv.SchemaPart + "/" + kv.SchemaRow
}

// identity returns how the cluster identifies itself, including the log's word, which was chosen at
// random when the log was created.
func (c *cluster) identity(ctx context.Context) map[string]string {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	var ids []string
	for _, m := range c.list.Members {
		ids = append(ids, fmt.Sprintf("%x", m.ID))
	}
	slices.Sort(ids)
	identity := map[string]string{
		"cluster": fmt.Sprintf("%x", c.list.Header.ClusterId), "members": strings.Join(ids, " "),
	}
	row, err := c.client.Get(ctx, c.schemaKey())
	if err == nil && len(row.Kvs) == 1 {
		identity["log"], _ = kv.Word(kv.Row{Value: row.Kvs[0].Value, Version: 1})
	}
	return identity
}
