package zookeeperdoctor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/checks"
)

func version(_ context.Context, e *ensemble, r *checks.Reporter) error {
	all := make([]string, len(e.servers))
	for i, s := range e.servers {
		all[i], _, _ = strings.Cut(s.srvr["Zookeeper version"], "-")
	}
	if strings.Join(all, "") == "" {
		r.Unknown("no server reports its version: %v", e.servers[0].err)
	}
	r.Versions("ZooKeeper", all, checks.Note, 3, 8)
	return nil
}

// servers counts the voting members in the ensemble's configuration.
func servers(_ context.Context, e *ensemble, r *checks.Reporter) error {
	text, err := e.get("/zookeeper/config")
	if err != nil {
		return err
	}
	voters := 0
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "server.") && !strings.Contains(line, ":observer") {
			voters++
		}
	}
	voters = max(1, voters) // a standalone server lists none
	up := 0
	var away []string
	for _, s := range e.servers {
		switch mode := s.srvr["Mode"]; {
		case errors.As(s.err, new(*refusedError)):
			r.Unknown("%v", s.err)
			return nil
		case mode == "observer":
		case mode == "":
			away = append(away, s.address)
		default:
			up++
		}
	}
	r.Voters(voters, up, away)
	return nil
}

// each sends words to all servers that serve, and reports those that refuse a word as unknown.
func (e *ensemble) each(
	ctx context.Context, r *checks.Reporter, judge func(address string, s said) error,
	words ...string,
) error {
	for _, s := range e.servers {
		if !s.serves() {
			continue // another check reports it
		}
		all := said{}
		var err error
		for _, word := range words {
			var more said
			if more, err = s.word(ctx, word); err != nil {
				break
			}
			maps.Copy(all, more)
		}
		if err == nil {
			err = judge(s.address, all)
		}
		if errors.As(err, new(*refusedError)) {
			r.Unknown("%v", err)
		} else if err != nil {
			return fmt.Errorf("%s: %w", s.address, err)
		}
	}
	return nil
}

// numbers returns the numbers of those names in a server's answer.
func (s said) numbers(names ...string) ([]int64, error) {
	numbers := make([]int64, len(names))
	for i, name := range names {
		var err error
		if numbers[i], err = strconv.ParseInt(s[name], 10, 64); err != nil {
			return nil, fmt.Errorf("%s is %q, which is not a number", name, s[name])
		}
	}
	return numbers, nil
}

// forceSync compares how often a server wrote a batch of its log with how often it called fsync,
// because clients cannot read the setting. Without forceSync the server counts no calls.
func forceSync(ctx context.Context, e *ensemble, r *checks.Reporter) error {
	err := e.each(ctx, r, func(address string, s said) error {
		n, err := s.numbers("zk_cnt_sync_processor_batch_size", "zk_cnt_fsynctime")
		if err == nil && n[0] > 1 && n[1] == 0 {
			r.Finding("%s has written %d batches of its log, but none of them with fsync", address,
				n[0])
		}
		return err
	}, "mntr")
	r.Pass("the servers write to the disk before they acknowledge")
	return err
}

// mostSilence is how long servers may take to notice that their leader is gone.
const mostSilence = 2 * time.Second

func failover(ctx context.Context, e *ensemble, r *checks.Reporter) error {
	err := e.each(ctx, r, func(address string, s said) error {
		if s["syncLimit"] == "" {
			r.Pass("a standalone server has no leader")
			return nil
		}
		n, err := s.numbers("tickTime", "syncLimit")
		if err != nil {
			return err
		}
		if silence := time.Duration(n[0]*n[1]) * time.Millisecond; silence > mostSilence {
			r.Note("%s takes %v to notice that its leader is gone: tickTime is %d, and "+
				"syncLimit %d", address, silence, n[0], n[1])
		}
		return nil
	}, "conf")
	r.Pass("servers notice within %v that their leader is gone", mostSilence)
	return err
}

// znodeBytes is how much of the heap a znode takes in addition to its path and data, with which it
// takes about 530 bytes in a launch log.
const znodeBytes = 350

func memory(ctx context.Context, e *ensemble, r *checks.Reporter) error {
	var seen []string
	err := e.each(ctx, r, func(address string, s said) error {
		s["os.memory.max"] = strings.TrimSuffix(s["os.memory.max"], "MB")
		n, err := s.numbers("zk_znode_count", "zk_approximate_data_size", "os.memory.max")
		if err == nil {
			seen = append(seen, judgeMemory(r, address, n[0], n[1], n[2]<<20))
		}
		return err
	}, "mntr", "envi")
	r.Pass("%s", strings.Join(seen, ". "))
	return err
}

func judgeMemory(r *checks.Reporter, address string, znodes, data, heap int64) string {
	size := data + znodes*znodeBytes
	text := fmt.Sprintf("%s: %d znodes take about %d MB of a heap of %d MB", address, znodes,
		mega(size), mega(heap))
	r.Used(launchlog.Usage{Used: size, Max: max(1, heap/2)}.Level(), "%s", text)
	return text
}

func mega(bytes int64) int64 { return (bytes + 1<<20 - 1) >> 20 }

var limits = regexp.MustCompile(`(count|bytes|countHardLimit|byteHardLimit)=(-?\d+)`)

// quota checks the quotas of the path and of its ancestors.
func quota(_ context.Context, e *ensemble, r *checks.Reporter) error {
	for path := e.config.Path; path != ""; path = path[:strings.LastIndex(path, "/")] {
		limit, err := e.get("/zookeeper/quota" + path + "/zookeeper_limits")
		if err != nil {
			return err
		}
		if limit == "" {
			continue
		}
		used, err := e.get("/zookeeper/quota" + path + "/zookeeper_stats")
		if err != nil {
			return err
		}
		judgeQuota(r, path, limit, used)
	}
	r.Pass("no quota of the path is nearly used up")
	return nil
}

// judgeQuota compares texts such as "count=5,bytes=-1=;byteHardLimit=-1;countHardLimit=-1", where
// −1 means unlimited.
func judgeQuota(r *checks.Reporter, path, limit, used string) {
	stats := map[string]int64{}
	for _, m := range limits.FindAllStringSubmatch(used, -1) {
		stats[m[1]], _ = strconv.ParseInt(m[2], 10, 64)
	}
	for _, m := range limits.FindAllStringSubmatch(limit, -1) {
		most, _ := strconv.ParseInt(m[2], 10, 64)
		what, unit := "count", "znodes"
		if strings.HasPrefix(m[1], "byte") {
			what, unit = "bytes", "bytes"
		}
		if most > 0 {
			r.Used(launchlog.Usage{Used: stats[what], Max: most}.Level(),
				"%s has %d of %d %s, by its quota %s", path, stats[what], most, unit, m[1])
		}
	}
}

// acls checks some of the log's znodes, all of which have the same ACL unless different users
// created them.
func acls(_ context.Context, e *ensemble, r *checks.Reporter) error {
	for _, below := range []string{"", "/~log", "/~log/version"} {
		path := e.config.Path + below
		list, _, err := e.conn.GetACL(path)
		switch {
		case errors.Is(err, zk.ErrNoNode):
			continue // it is not there yet
		case errors.Is(err, zk.ErrNoAuth):
			r.Finding("the user may not read the ACL of %s: another user created the log",
				path)
			continue
		case err != nil:
			return err
		}
		judgeACL(r, path, e.config.User, e.config.Password, list)
	}
	r.Pass("only the user %q may change the log's znodes", e.config.User)
	return nil
}

const changes = zk.PermWrite | zk.PermCreate | zk.PermDelete | zk.PermAdmin

func judgeACL(r *checks.Reporter, path, user, password string, list []zk.ACL) {
	const needed = zk.PermRead | zk.PermWrite | zk.PermCreate
	var has int32
	own := zk.DigestACL(zk.PermAll, user, password)[0].ID
	for _, acl := range list {
		anyone := acl.Scheme == "world" && acl.ID == "anyone"
		if anyone && acl.Perms&changes != 0 {
			r.Note("anybody who reaches the ensemble may change or delete %s", path)
		}
		if anyone || user != "" && acl.Scheme == "digest" && acl.ID == own ||
			acl.Scheme != "digest" { // of an address or a certificate, which may be this client's
			has |= acl.Perms
		}
	}
	if has&needed != needed {
		r.Finding("the user %q may not read, write and create at %s", user, path)
	}
}
