package etcddoctor

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"

	"go.etcd.io/etcd/api/v3/authpb"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/checks"
)

// mostKept is more revisions than are kept if compaction works as advised: 10,000, plus the
// revisions of the five minutes between two compactions.
const mostKept = 100_000

// corrupting lists the versions that may corrupt data if a process is killed under load, according
// to etcd's own notice of March 2022.
var corrupting = []string{"3.5.0", "3.5.1", "3.5.2"}

// version checks the version: Status reports learners only since 3.4.
func version(_ context.Context, c *cluster, r *checks.Reporter) error {
	var all []string
	for _, n := range c.nodes {
		if n.status != nil {
			all = append(all, n.status.Version)
		}
	}
	for _, v := range corrupting {
		if slices.Contains(all, v) {
			r.Finding("etcd %s may corrupt its data if a process is killed under load", v)
		}
	}
	r.Versions("etcd", all, checks.Note, 3, 4)
	return nil
}

func members(_ context.Context, c *cluster, r *checks.Reporter) error {
	leads := map[uint64]bool{} // members that answered: whether they know a leader
	var away []string          // endpoints
	for _, n := range c.nodes {
		switch {
		case n.err != nil:
			away = append(away, n.endpoint)
		case n.status.Header.ClusterId != c.list.Header.ClusterId:
			r.Finding("%s belongs to another cluster, %x instead of %x", n.endpoint,
				n.status.Header.ClusterId, c.list.Header.ClusterId)
		case n.status.IsLearner:
			r.Note("%s is a learner: it rejects the requests of apps", n.endpoint)
		default:
			leads[n.status.Header.MemberId] = n.status.Leader != 0
		}
	}
	up := 0
	voters := 0
	for _, m := range c.list.Members {
		if m.IsLearner {
			continue
		}
		voters++
		switch led, answered := leads[m.ID]; {
		case led:
			up++
		case answered:
			away = append(away, m.Name+" without a leader")
		}
	}
	r.Voters(voters, up, away)
	return nil
}

func alarms(ctx context.Context, c *cluster, r *checks.Reporter) error {
	found, err := c.client.AlarmList(ctx)
	if err != nil {
		return err
	}
	for _, a := range found.Alarms {
		does := ""
		if a.Alarm == etcdserverpb.AlarmType_NOSPACE {
			does = ": the cluster accepts no writes"
		}
		r.Finding("member %x has raised the alarm %s%s", a.MemberID, a.Alarm, does)
	}
	r.Pass("no member has raised an alarm")
	return nil
}

// quota checks the fullest database by the size of its file, because the quota limits that. etcd
// reuses the free space in the file after a compaction.
func quota(_ context.Context, c *cluster, r *checks.Reporter) error {
	var fullest *clientv3.StatusResponse
	share := func(s *clientv3.StatusResponse) float64 {
		return float64(s.DbSize) / float64(s.DbSizeQuota)
	}
	for _, n := range c.nodes {
		s := n.status
		if s == nil || s.DbSizeQuota <= 0 {
			continue
		}
		if fullest == nil || share(s) > share(fullest) {
			fullest = s
		}
	}
	if fullest == nil { // before etcd 3.6
		r.Unknown("the cluster does not report its quota")
		return nil
	}
	const text = "the database has %d MB of a quota of %d MB, of which %d MB are in use"
	size, of, inUse := mega(fullest.DbSize), mega(fullest.DbSizeQuota), mega(fullest.DbSizeInUse)
	used := launchlog.Usage{Used: fullest.DbSize, Max: fullest.DbSizeQuota}
	r.Used(used.Level(), text, size, of, inUse)
	r.Pass(text, size, of, inUse)
	return nil
}

func mega(bytes int64) int64 { return (bytes + 1<<20 - 1) >> 20 }

// compaction counts the revisions that are kept, because clients cannot read the setting.
func compaction(ctx context.Context, c *cluster, r *checks.Reporter) error {
	now, err := c.client.Get(ctx, c.schemaKey())
	if err != nil {
		return err
	}
	oldest := int64(1)
	_, err = c.client.Get(ctx, c.schemaKey(), clientv3.WithRev(1))
	if errors.Is(err, rpctypes.ErrCompacted) {
		oldest, err = c.oldest(ctx)
	}
	if err != nil {
		return err
	}
	judgeKept(r, now.Header.Revision, oldest)
	return nil
}

func judgeKept(r *checks.Reporter, now, oldest int64) {
	kept := now - oldest
	switch {
	case kept > mostKept && oldest == 1:
		r.Finding("%d revisions are kept, and none was ever compacted", kept)
	case kept > mostKept:
		r.Note("%d revisions are kept since the last compaction, of revision %d", kept, oldest)
	}
	r.Pass("%d revisions are kept, from %d to %d", kept, oldest, now)
}

// oldest returns the revision of the last compaction, which the server reports to a watch that is
// to begin before it.
func (c *cluster) oldest(ctx context.Context) (int64, error) {
	for answer := range c.client.Watch(ctx, c.schemaKey(), clientv3.WithRev(1)) {
		if answer.CompactRevision > 0 {
			return answer.CompactRevision, nil
		}
		if err := answer.Err(); err != nil {
			return 0, err
		}
	}
	return 0, ctx.Err()
}

// rights reads what the user may do, which every user may ask about itself.
func rights(ctx context.Context, c *cluster, r *checks.Reporter) error {
	if c.config.User == "" {
		switch auth, err := c.client.AuthStatus(ctx); {
		case err != nil:
			return err
		case auth.Enabled:
			r.Unknown("the user is given by the client's certificate")
		default:
			r.Note("authentication is off: anyone who reaches the cluster may delete the log")
		}
		return nil
	}
	user, err := c.client.UserGet(ctx, c.config.User)
	if err != nil {
		return err
	}
	var all []*authpb.Permission
	for _, name := range user.Roles {
		if name == "root" {
			r.Note("the user %s is root, and may delete the data of others", c.config.User)
			return nil
		}
		role, err := c.client.RoleGet(ctx, name)
		if err != nil {
			return err
		}
		all = append(all, role.Perm...)
	}
	prefix := c.config.Prefix + ":"
	end := clientv3.GetPrefixRangeEnd(prefix)
	for _, right := range []authpb.Permission_Type{authpb.READ, authpb.WRITE} {
		if !covers(all, right, prefix, end) {
			r.Finding("the user %s may not %s all keys of %s", c.config.User,
				strings.ToLower(right.String()), prefix)
		}
	}
	r.Pass("the user %s may read and write the keys of %s", c.config.User, prefix)
	return nil
}

// covers reports whether the permissions together include all keys from one to before another. As
// etcd does, it joins adjacent and overlapping ranges, even of different roles.
func covers(all []*authpb.Permission, right authpb.Permission_Type, from, end string) bool {
	byKey := slices.SortedFunc(slices.Values(all), func(a, b *authpb.Permission) int {
		return bytes.Compare(a.Key, b.Key)
	})
	for _, p := range byKey {
		last := string(p.RangeEnd)
		switch {
		case p.PermType != right && p.PermType != authpb.READWRITE:
			continue
		case string(p.Key) > from: // a gap
			return false
		case last == "\x00": // no end
			return true
		case last == "": // one key
			last = string(p.Key) + "\x00"
		}
		if from = max(from, last); from >= end {
			return true
		}
	}
	return false
}
