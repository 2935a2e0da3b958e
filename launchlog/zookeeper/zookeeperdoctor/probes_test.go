package zookeeperdoctor

import (
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/idmint/idmint/launchlog/checks"
	"github.com/idmint/idmint/launchlog/internal/doctorsuite"
)

// Each check of ZooKeeper that package doctor lists is made, and no other one.
func TestCodes(t *testing.T) { doctorsuite.Codes(t, "zookeeper", probes) }

// Versions of servers that tests cannot start.
func TestVersion(t *testing.T) {
	for v, wanted := range map[string]string{
		"3.9.4": "passed: ", "3.8.0": "passed: ", "4.0.0": "passed: ",
		"3.7.2": "note: ZooKeeper 3.7.2 is older than 3.8", "2.9": "note: ", "new": "unknown: ",
	} {
		doctorsuite.Judge(t, v, func(r *checks.Reporter) {
			_ = version(t.Context(), &ensemble{servers: []server{{srvr: said{"Zookeeper version": v}}}}, r)
		}, wanted)
	}
}

// A full launch has 200,179 znodes of about 530 bytes, with their paths and data: 106 MB.
func TestMemory(t *testing.T) {
	for _, c := range []struct {
		znodes, data, heap int64
		want               string
	}{
		{200_179, 200_179 * 180, 1 << 30, "passed: "},
		{200_179, 200_179 * 180, 250 << 20, "note: a:2181: 200179 znodes take about 102 MB of a " +
			"heap of 250 MB"},
		{200_179, 200_179 * 180, 200 << 20, "finding: a:2181: 200179 znodes take"},
		{1, 1 << 30, 1 << 30, "finding: "},
		{1, 1, 0, "finding: "},
	} {
		doctorsuite.Judge(t, c, func(r *checks.Reporter) {
			judgeMemory(r, "a:2181", c.znodes, c.data, c.heap)
		}, c.want)
	}
}

func TestQuota(t *testing.T) {
	for _, c := range []struct{ limit, used, want string }{
		{"count=10,bytes=-1", "count=7,bytes=999", "passed: "},
		{"count=10,bytes=-1", "count=8,bytes=999", "note: /a has 8 of 10 znodes, by its quota count"},
		{"count=-1,bytes=1000", "count=8,bytes=900", "finding: /a has 900 of 1000 bytes, by its " +
			"quota bytes"},
		{
			"count=-1,bytes=-1=;byteHardLimit=1000;countHardLimit=9", "count=9,bytes=700",
			"finding: /a has 9 of 9 znodes, by its quota countHardLimit. ",
		},
		{"", "", "passed: "},
	} {
		doctorsuite.Judge(t, c, func(r *checks.Reporter) { judgeQuota(r, "/a", c.limit, c.used) },
			c.want)
	}
}

func TestACL(t *testing.T) {
	own := zk.DigestACL(zk.PermAll, "app", "secret")
	for name, c := range map[string]struct {
		user string
		list []zk.ACL
		want string
	}{
		"of the user":  {"app", own, "passed: "},
		"of nobody":    {"", own, `finding: the user "" may not read, write and create at /a`},
		"of another":   {"other", own, `finding: the user "other" may not`},
		"only to read": {"app", zk.DigestACL(zk.PermRead, "app", "secret"), "finding: "},
		"of all": {"", zk.WorldACL(zk.PermAll), "note: anybody who reaches the ensemble may " +
			"change or delete /a. "},
		"of all too":    {"app", append(zk.WorldACL(zk.PermDelete), own...), "note: anybody"},
		"all may read":  {"app", append(zk.WorldACL(zk.PermRead), own...), "passed: "},
		"of an address": {"", []zk.ACL{{Perms: zk.PermAll, Scheme: "ip", ID: "10.0.0.0/8"}}, "passed: "},
	} {
		doctorsuite.Judge(t, name, func(r *checks.Reporter) {
			judgeACL(r, "/a", c.user, "secret", c.list)
		}, c.want)
	}
}
