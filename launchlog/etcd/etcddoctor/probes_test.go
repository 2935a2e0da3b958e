package etcddoctor

import (
	"testing"

	"go.etcd.io/etcd/api/v3/authpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/idmint/idmint/launchlog/checks"
	"github.com/idmint/idmint/launchlog/internal/doctorsuite"
)

// Each check of etcd that package doctor lists is made, and no other one.
func TestCodes(t *testing.T) { doctorsuite.Codes(t, "etcd", probes) }

// Versions of servers that tests cannot start.
func TestVersion(t *testing.T) {
	const well = "passed: etcd "
	for v, want := range map[string]string{
		"3.7.3": well, "3.5.3": well, "3.4.0": well, "4.0.0": well,
		"3.5.0": "finding: etcd 3.5.0 may corrupt", "3.5.2": "finding: ",
		"3.3.27": "note: etcd 3.3.27 is older", "2.3.8": "note: ", "new": "unknown: ",
	} {
		doctorsuite.Judge(t, v, func(r *checks.Reporter) {
			status := &clientv3.StatusResponse{Version: v}
			_ = version(t.Context(), &cluster{nodes: []node{{status: status}}}, r)
		}, want)
	}
}

// Where compaction works as advised 10,000 revisions are kept, and those of five minutes.
func TestKept(t *testing.T) {
	for _, c := range []struct {
		now, oldest int64
		want        string
	}{
		{100_001, 1, "passed: 100000 revisions are kept, from 1 to 100001"},
		{100_002, 1, "finding: 100001 revisions are kept, and none was ever compacted"},
		{200_002, 100_002, "passed: "},
		{200_003, 100_002, "note: 100001 revisions are kept since the last compaction, of revision"},
	} {
		doctorsuite.Judge(t, c, func(r *checks.Reporter) { judgeKept(r, c.now, c.oldest) }, c.want)
	}
}

// The fullest database counts, also where sizes and quotas are of petabytes.
func TestQuotaOfTheFullest(t *testing.T) {
	const giga, peta = int64(1) << 30, int64(1) << 50
	full := func(size, quota int64) node {
		return node{status: &clientv3.StatusResponse{DbSize: size, DbSizeQuota: quota}}
	}
	for _, c := range []struct {
		nodes []node
		want  string
	}{
		{[]node{full(giga, 8*giga), full(7*giga, 8*giga), full(giga, 2*giga)}, "note: the database " +
			"has 7168 MB of a quota of 8192 MB"},
		{[]node{full(95*giga, 100*giga), full(giga, 8*giga)}, "finding: the database has 97280 MB"},
		{[]node{full(peta-1, peta), full(giga, peta)}, "finding: the database has 1073741824 MB"},
		{[]node{{}, full(giga, 0)}, "unknown: the cluster does not report its quota"},
	} {
		cluster := &cluster{nodes: c.nodes}
		doctorsuite.Judge(t, c, func(r *checks.Reporter) {
			_ = quota(t.Context(), cluster, r)
		}, c.want)
	}
}

func TestCovers(t *testing.T) {
	const read, write, both = authpb.READ, authpb.WRITE, authpb.READWRITE
	type right struct {
		is       authpb.Permission_Type
		from, to string
	}
	for _, c := range []struct {
		rights []right
		want   bool
	}{
		{nil, false},
		{[]right{{write, "/a/", "/a0"}}, true},
		{[]right{{both, "/a/", "/a0"}}, true},
		{[]right{{read, "/a/", "/a0"}}, false},
		{[]right{{write, "/a", "/b"}}, true},
		{[]right{{write, "/", "\x00"}}, true},
		{[]right{{write, "/a/", ""}}, false}, // one key
		{[]right{{write, "/a/b", "/a0"}}, false},
		{[]right{{write, "/a/", "/a/z"}}, false},
		// Ranges that meet or overlap are one, in any order.
		{[]right{{write, "/a/", "/a/m"}, {write, "/a/m", "/a0"}}, true},
		{[]right{{write, "/a/m", "/b"}, {both, "/", "/a/z"}}, true},
		{[]right{{write, "/a/m", "\x00"}, {write, "/a/", "/a/m"}}, true},
		{[]right{{write, "/a/", ""}, {write, "/a/\x00", "/a0"}}, true},
		{[]right{{write, "/a/", "/a/y"}, {write, "/a/b", "/a/c"}, {write, "/a/x", "/a0"}}, true},
		{[]right{{write, "/a/", "/a/m"}, {write, "/a/n", "/a0"}}, false}, // a gap
		{[]right{{write, "/a/", "/a/m"}, {read, "/a/m", "/a0"}}, false},
		{[]right{{write, "/a/", ""}, {write, "/a/b", "/a0"}}, false},
		{[]right{{write, "/", "/a"}, {write, "/b", "\x00"}}, false},
	} {
		var all []*authpb.Permission
		for _, r := range c.rights {
			all = append(all, &authpb.Permission{
				PermType: r.is, Key: []byte(r.from), RangeEnd: []byte(r.to),
			})
		}
		if got := covers(all, authpb.WRITE, "/a/", "/a0"); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
