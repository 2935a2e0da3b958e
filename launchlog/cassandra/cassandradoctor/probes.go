package cassandradoctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/idmint/idmint/launchlog/checks"
)

func version(_ context.Context, c *cluster, r *checks.Reporter) error {
	all := make([]string, len(c.members))
	for i, m := range c.members {
		all[i] = m.version
	}
	r.Versions("Cassandra", all, checks.Finding, 4, 1)
	return nil
}

// nodes checks the nodes that are asked, all of one data center if the config names one.
func nodes(_ context.Context, c *cluster, r *checks.Reporter) error {
	var away []string
	for _, h := range c.hosts {
		if h.err != nil {
			away = append(away, h.address)
		}
	}
	judgeNodes(r, c.keys, c.alone(), len(c.hosts), away)
	return nil
}

func judgeNodes(r *checks.Reporter, k keyspace, alone string, nodes int, away []string) {
	most := (k.deciding(alone) - 1) / 2 // replicas that may be down
	names := strings.Join(away, ", ")
	switch {
	case len(away) > 0 && len(away) >= most:
		r.Finding("%d of %d nodes do not answer, and with one more the log stops in part: %s",
			len(away), nodes, names)
	case len(away) > 0:
		r.Note("%d of %d nodes do not answer: %s", len(away), nodes, names)
	}
	r.Pass("%d nodes, and all of them answer", nodes)
}

// settings asks all nodes that answer for a setting.
func (c *cluster) settings(
	ctx context.Context, name string, judge func(address, value string),
) error {
	for _, h := range c.hosts {
		if h.err != nil {
			continue // another check reports it
		}
		value, err := setting(ctx, h.session, name)
		if err != nil {
			return fmt.Errorf("%s: %w", h.address, err)
		}
		judge(h.address, value)
	}
	return nil
}

func paxos(ctx context.Context, c *cluster, r *checks.Reporter) error {
	err := c.settings(ctx, "paxos_variant", func(address, value string) {
		judgePaxos(r, address, value)
	})
	r.Pass("paxos_variant is v2 on all nodes")
	return err
}

func judgePaxos(r *checks.Reporter, address, variant string) {
	switch {
	case strings.Contains(variant, "without_linearizable_reads"):
		r.Finding("paxos_variant of %s is %s: reads may miss what was acknowledged", address,
			variant)
	case variant == "":
		r.Note("%s has no paxos_variant, so it uses v1", address)
	case variant != "v2":
		r.Note("paxos_variant of %s is %s", address, variant)
	}
}

func commitlog(ctx context.Context, c *cluster, r *checks.Reporter) error {
	err := c.settings(ctx, "commitlog_sync", func(address, value string) {
		judgeCommitlog(r, address, value, c.keys.deciding(c.alone()))
	})
	r.Pass("all nodes write to the disk before they acknowledge")
	return err
}

func judgeCommitlog(r *checks.Reporter, address, sync string, replicas int) {
	switch {
	case sync == "batch" || sync == "group":
	case replicas < 3:
		r.Finding("commitlog_sync of %s is %s, and there are %d replicas: no other machine has "+
			"what a machine that fails has lost", address, sync, replicas)
	default:
		r.Note("commitlog_sync of %s is %s: if a majority of machines fails at once, 10 s are lost",
			address, sync)
	}
}

func clocks(_ context.Context, c *cluster, r *checks.Reporter) error {
	for _, h := range c.hosts {
		if h.err == nil {
			r.Clock(h.before, h.now, h.after, "the clock of "+h.address)
		}
	}
	return nil
}

// ours begins the names of the log's tables: idmint_log, and the table of rows.
const ours = "idmint_"

func table(ctx context.Context, c *cluster, r *checks.Reporter) error {
	tables, err := c.rows(ctx, `SELECT table_name, default_time_to_live FROM system_schema.tables
		WHERE keyspace_name = ?`, c.config.Keyspace)
	for _, t := range tables {
		name, seconds := fmt.Sprint(t["table_name"]), t["default_time_to_live"]
		if strings.HasPrefix(name, ours) && seconds != 0 {
			r.Finding("rows of the table %s expire after %d s", name, seconds)
		}
	}
	r.Pass("rows of the log's tables never expire")
	return err
}

func rights(ctx context.Context, c *cluster, r *checks.Reporter) error {
	authorizer, err := setting(ctx, c.asked, "authorizer.class_name")
	if err == nil && authorizer == "" { // as before Cassandra 5
		authorizer, err = setting(ctx, c.asked, "authorizer")
	}
	if err != nil {
		return err
	}
	// The default in cassandra.yaml is AllowAllAuthorizer.
	if authorizer == "" || authorizer == "null" || strings.Contains(authorizer, "AllowAll") {
		r.Note("there is no authorizer: anyone who reaches the cluster may drop the log")
		return nil
	}
	role := `"` + strings.ReplaceAll(c.config.User, `"`, `""`) + `"`
	roles, err := c.rows(ctx, `LIST ROLES OF `+role)
	if err != nil {
		return err
	}
	for _, row := range roles {
		if row["super"] == true {
			r.Note("the role %s is a superuser, by %v", c.config.User, row["role"])
			return nil
		}
	}
	granted, err := c.rows(ctx, `LIST ALL PERMISSIONS OF `+role)
	if err != nil {
		return err
	}
	has := map[string]bool{}
	for _, row := range granted {
		resource, permission := fmt.Sprint(row["resource"]), fmt.Sprint(row["permission"])
		if about(resource, c.config.Keyspace) {
			has[permission] = true
		}
	}
	judgeRights(r, c.config.User, has)
	return nil
}

// about reports whether a resource, such as "<keyspace shop>" or "<table shop.idmint_log>",
// includes a table of the log.
func about(resource, keyspace string) bool {
	return slices.Contains([]string{
		"<all keyspaces>", "<keyspace " + keyspace + ">", "<all tables in " + keyspace + ">",
	}, resource) || strings.HasPrefix(resource, "<table "+keyspace+"."+ours)
}

func judgeRights(r *checks.Reporter, role string, has map[string]bool) {
	for _, needed := range []string{"SELECT", "MODIFY"} {
		if !has[needed] {
			r.Finding("the role %s lacks %s on the keyspace", role, needed)
		}
	}
	for _, more := range []string{"ALTER", "DROP"} {
		if has[more] {
			r.Note("the role %s does not need %s", role, more)
		}
	}
	r.Pass("the role %s has SELECT and MODIFY, and may not alter or drop the table", role)
}
