package bench

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/bwmarrin/snowflake"

	"github.com/idmint/idmint/claims"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/subprocess"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/sqlite"
)

func TestMain(m *testing.M) {
	subprocess.Main(m, map[string]func([]string) error{"bwmarrin": bwmarrin, "idmint": idmint})
}

// The clock of the fleet that is taken over is ahead, as one may be.
const ahead = 700 // ms

// bwmarrin is a process that mints with a node of bwmarrin/snowflake until it is killed.
func bwmarrin(args []string) error {
	snowflake.Epoch -= ahead
	node, err := strconv.ParseInt(args[0], 10, 64)
	if err != nil {
		return err
	}
	n, err := snowflake.NewNode(node)
	for err == nil {
		err = binary.Write(os.Stdout, binary.BigEndian, int64(n.Generate()))
	}
	return err
}

// idmint is a process that mints with a node that the launch log lends, until it is killed.
func idmint(args []string) error {
	ctx, path, holder := context.Background(), args[0], args[1]
	least, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	most, err := strconv.Atoi(args[3])
	if err != nil {
		return err
	}
	store, err := sqlite.Open(ctx, path)
	if err != nil {
		return err
	}
	log, err := launchlog.New(store, nil)
	if err != nil {
		return err
	}
	nodes, err := claims.Snowflakes[idtype.Twitter](log, &claims.Options{
		Holder: holder, Part: &generator.Pool{Min: least, Max: most},
		Length: 300 * time.Millisecond, Quiet: 300 * time.Millisecond,
	})
	if err != nil {
		return err
	}
	ids, err := generator.NewSnowflake(nodes, nil)
	if err != nil {
		return err
	}
	block := make([]idtype.SnowflakeID, 16)
	for {
		if _, err := ids.Fill(ctx, block); err != nil {
			return err
		}
		for _, id := range block {
			if err := binary.Write(os.Stdout, binary.BigEndian, int64(id)); err != nil {
				return err
			}
		}
	}
}

// A column is where the fleets store their IDs.
type column struct {
	sync.Mutex
	seen    map[int64]bool
	repeats []int64
	most    int64
	of      map[string]*stored
}

// stored is what some processes have stored, and how often one of them was killed.
type stored struct {
	n, kills int
	least    int64
}

func (c *column) insert(who *stored, id int64) {
	c.Lock()
	defer c.Unlock()
	if c.seen[id] {
		c.repeats = append(c.repeats, id)
	}
	c.seen[id] = true
	c.most = max(c.most, id)
	if who.n++; who.n == 1 || id < who.least {
		who.least = id
	}
}

// await waits until some processes have stored many IDs, and some of them were killed.
func (c *column) await(t *testing.T, who string) {
	t.Helper()
	for enough := false; !enough; time.Sleep(5 * time.Millisecond) {
		c.Lock()
		s := c.of[who]
		enough = s.n >= 2000 && s.kills >= 5 || t.Failed()
		c.Unlock()
	}
	if t.Failed() {
		t.FailNow()
	}
}

// run runs a process, kills it when it has minted some IDs, and starts it again, until ctx ends. Its
// nodes must be within least and most.
func (c *column) run(ctx context.Context, t *testing.T, who string, least, most int, worker string, args ...string) {
	c.Lock()
	if c.of[who] == nil {
		c.of[who] = &stored{}
	}
	s := c.of[who]
	c.Unlock()
	for ctx.Err() == nil {
		if err := c.life(ctx, t, s, least, most, worker, args); err != nil {
			t.Errorf("%s: %v", who, err)
			return
		}
	}
}

func (c *column) life(
	ctx context.Context, t *testing.T, s *stored, least, most int, worker string, args []string,
) error {
	cmd := subprocess.Command(worker, args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	time.Sleep(2 * time.Millisecond) // bwmarrin's node of a new process must not meet the same millisecond
	if err := cmd.Start(); err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })()
	ids := bufio.NewReader(out)
	last := 1 + rand.IntN(3000)
	for n := 1; ; n++ {
		var b [8]byte
		if _, err := io.ReadFull(ids, b[:]); err != nil {
			break // it was killed: what it has written before has been read
		}
		id := int64(binary.BigEndian.Uint64(b[:]))
		if node := idtype.SnowflakeID(id).Node(); node < least || node > most {
			t.Errorf("%s %q mints with node %d", worker, args, node)
		}
		c.insert(s, id)
		if n == last {
			_ = cmd.Process.Kill()
		}
	}
	err = cmd.Wait()
	if cmd.ProcessState.Exited() {
		return fmt.Errorf("%s ended by itself: %w", worker, err)
	}
	c.Lock()
	s.kills++
	c.Unlock()
	return nil
}

// TestTakeover takes over a fleet of bwmarrin/snowflake without a stop. idmint's processes run at the
// same time with other nodes, then the fleet ends, its nodes are advanced past its last ID, and
// idmint uses them as well. All the time processes are killed.
func TestTakeover(t *testing.T) {
	path := filepath.Join(t.TempDir(), "launches.db")
	store := must(sqlite.OpenOrCreate(t.Context(), path))
	defer store.Close()
	c := &column{seen: map[int64]bool{}, of: map[string]*stored{}}
	var fleet, all sync.WaitGroup
	old, endOld := context.WithCancel(t.Context())
	split, endSplit := context.WithCancel(t.Context())
	whole, endWhole := context.WithCancel(t.Context())
	defer func() { endOld(); endSplit(); endWhole(); fleet.Wait(); all.Wait() }()
	ours := func(ctx context.Context, who string, least, most int, holders ...string) {
		for _, holder := range holders {
			all.Go(func() {
				c.run(ctx, t, who, least, most, "idmint", path, holder, strconv.Itoa(least), strconv.Itoa(most))
			})
		}
	}
	c.of["theirs"], c.of["split"], c.of["taken over"], c.of["whole"] = &stored{}, &stored{}, &stored{}, &stored{}

	for node := range 4 {
		fleet.Go(func() { c.run(old, t, "theirs", node, node, "bwmarrin", strconv.Itoa(node)) })
	}
	c.await(t, "theirs")
	ours(split, "split", 512, 1023, "a", "b", "")
	c.await(t, "split")
	endOld()
	fleet.Wait() // the last ID of the old fleet is in the column

	c.Lock()
	last := c.most
	c.Unlock()
	until := idtype.SnowflakeID(last).Time().Add(50 * time.Millisecond)
	log := must(launchlog.New(store, nil))
	floor := must(log.Counter("snowflake/floor")) // as idmint counter advance does
	must(floor.Advance(t.Context(), until.UnixMilli(), "takeover"))
	ours(whole, "taken over", 0, 7, "c", "d", "e", "") // the nodes of the old fleet
	c.await(t, "taken over")
	endSplit()
	ours(whole, "whole", 0, 1023, "a")
	c.await(t, "whole")
	endWhole()
	all.Wait()

	if len(c.repeats) > 0 {
		t.Errorf("%d of %d IDs repeat, such as %d", len(c.repeats), len(c.seen), c.repeats[0])
	}
	for who, s := range c.of {
		t.Logf("%s: %d IDs from %v on, %d kills", who, s.n, idtype.SnowflakeID(s.least).Time(), s.kills)
		if (who == "taken over" || who == "whole") && s.least <= last {
			t.Errorf("%s: from %d on, the last of the old fleet is %d", who, s.least, last)
		}
	}
}
