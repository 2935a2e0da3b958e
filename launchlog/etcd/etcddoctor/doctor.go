// Package etcddoctor checks an etcd cluster that keeps a launch log, beside what package doctor
// checks of every log. It changes nothing.
//
//	results, identity, err := etcddoctor.Check(ctx, config) // the config of package etcd
//	more, err := doctor.Log(ctx, log, nil)                   // what the log holds
//
// The identity is for [doctor.Look]. It differs where another cluster answers, where members were
// replaced, and where the log was made anew.
package etcddoctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/idmint/idmint/doctor"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/etcd"
	"github.com/idmint/idmint/launchlog/internal/kv"
)

// A node that does not answer within answerTime counts as away.
const answerTime = 3 * time.Second

// Check asks each of the endpoints, within 3 s each time. Endpoints that do not answer are a
// result. Where none answers, the error is a [*launchlog.AttemptError]. Other errors are an
// [*etcd.ConfigError], the context's, or about the user and password.
func Check(ctx context.Context, config etcd.Config) (
	results []doctor.Result, identity map[string]string, err error,
) {
	config, err = config.Checked()
	if err != nil {
		return nil, nil, err
	}
	c := &cluster{config: config}
	defer c.close()
	if err := c.open(ctx); err != nil {
		return nil, nil, err
	}
	results, err = doctor.Examine(ctx, c, probes, func(ctx context.Context) error {
		_, err := within(ctx, c.members)
		return err
	})
	if err != nil {
		return results, nil, err
	}
	return results, c.identity(ctx), nil
}

var probes = []doctor.Probe[*cluster]{
	{Code: "etcd.version", Look: version},
	{Code: "etcd.members", Look: members},
	{Code: "etcd.alarms", Look: alarms},
	{Code: "etcd.quota", Look: quota},
	{Code: "etcd.compaction", Look: compaction},
	{Code: "etcd.rights", Look: rights},
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

// open asks all endpoints at once. Each has a client of its own: one of them all hangs on a node
// that is stopped.
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
			// A node without a leader answers for itself, and for nothing else.
			if c.list, err = within(ctx, c.members); err == nil {
				return nil
			}
		}
		if errors.Is(err, rpctypes.ErrAuthFailed) {
			return &failure{err}
		}
		errs = append(errs, fmt.Errorf("%s: %w", n.endpoint, err))
	}
	if ctx.Err() != nil {
		return &failure{ctx.Err()}
	}
	return &failure{&launchlog.AttemptError{Err: errors.Join(errs...)}}
}

func (c *cluster) members(ctx context.Context) (*clientv3.MemberListResponse, error) {
	return c.client.MemberList(ctx)
}

// A failure is why nothing could be checked, behind the package's name.
type failure struct{ err error }

func (e *failure) Error() string { return "etcddoctor: " + e.err.Error() }
func (e *failure) Unwrap() error { return e.err }

func (n *node) ask(ctx context.Context, config etcd.Config) {
	scheme := "http://"
	if config.TLS != nil {
		scheme = "https://"
	}
	n.client, n.err = clientv3.New(clientv3.Config{
		Context: ctx, Endpoints: []string{scheme + n.endpoint}, TLS: config.TLS,
		Username: config.User, Password: config.Password, DialTimeout: answerTime,
		DialOptions: config.DialOptions(), Logger: zap.NewNop(),
	})
	if n.err == nil {
		n.status, n.err = within(ctx, func(ctx context.Context) (*clientv3.StatusResponse, error) {
			return n.client.Status(ctx, scheme+n.endpoint)
		})
	}
}

// within bounds a question.
func within[T any](ctx context.Context, ask func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	return ask(ctx)
}

func (c *cluster) close() {
	for _, n := range c.nodes {
		if n.client != nil {
			_ = n.client.Close() // nothing is under way
		}
	}
}

// get reads one key, or what opts say.
func (c *cluster) get(
	ctx context.Context, key string, opts ...clientv3.OpOption,
) (*clientv3.GetResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	return c.client.Get(ctx, key, opts...)
}

func (c *cluster) schemaKey() string {
	return c.config.Prefix + ":" + kv.SchemaPart + "/" + kv.SchemaRow
}

// identity is what the cluster says of itself. The log's word is a random one of whoever made it.
func (c *cluster) identity(ctx context.Context) map[string]string {
	var ids []string
	for _, m := range c.list.Members {
		ids = append(ids, fmt.Sprintf("%x", m.ID))
	}
	slices.Sort(ids)
	identity := map[string]string{
		"cluster": fmt.Sprintf("%x", c.list.Header.ClusterId), "members": strings.Join(ids, " "),
	}
	var schema struct{ Log string }
	row, err := c.get(ctx, c.schemaKey())
	if err == nil && len(row.Kvs) == 1 && json.Unmarshal(row.Kvs[0].Value, &schema) == nil {
		identity["log"] = schema.Log
	}
	return identity
}

// voters are the members that decide.
func (c *cluster) voters() (voters []*etcdserverpb.Member) {
	for _, m := range c.list.Members {
		if !m.IsLearner {
			voters = append(voters, m)
		}
	}
	return voters
}
