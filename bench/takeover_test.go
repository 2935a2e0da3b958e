package bench

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/bwmarrin/snowflake"

	"github.com/idmint/idmint/claims"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/memory"
)

// A column is where a fleet stores its IDs.
type column struct {
	sync.Mutex
	by      map[int64]string // who minted each
	repeats []int64
	most    int64
}

func (c *column) insert(who string, ids ...int64) {
	c.Lock()
	defer c.Unlock()
	for _, id := range ids {
		if c.by[id] != "" {
			c.repeats = append(c.repeats, id)
		}
		c.by[id] = who
		c.most = max(c.most, id)
	}
}

// count counts the IDs of some, and says the least of them.
func (c *column) count(who string) (n int, least int64) {
	for id, by := range c.by {
		if by == who {
			if n++; least == 0 || id < least {
				least = id
			}
		}
	}
	return n, least
}

// A life is how many IDs a process mints before it is killed.
func life() int { return 1 + rand.IntN(5000) }

// bwmarrins is a process of bwmarrin/snowflake, started again whenever it was killed.
func bwmarrins(ctx context.Context, c *column, node int64) {
	for ctx.Err() == nil {
		n := must(snowflake.NewNode(node))
		for range life() {
			c.insert("theirs", int64(n.Generate()))
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// idmints is a process of ours. It is killed without a word: nobody gives its node back.
func idmints(ctx context.Context, t *testing.T, c *column, store launchlog.Store, who string, o claims.Options) {
	for ctx.Err() == nil {
		log := must(launchlog.New(store, nil))
		o.Length, o.Quiet = 100*time.Millisecond, 200*time.Millisecond
		ids, err := generator.NewSnowflake(must(claims.Snowflakes[idtype.Twitter](log, &o)), nil)
		check(err)
		block := make([]idtype.SnowflakeID, 16)
		for range life() / len(block) {
			n, err := ids.Fill(ctx, block)
			for _, id := range block[:n] {
				if p := o.Part; p != nil && (id.Node() < p.Min || id.Node() > p.Max) {
					t.Errorf("%s mints with node %d", who, id.Node())
				}
				c.insert(who, int64(id))
			}
			if err != nil && ctx.Err() == nil {
				t.Errorf("%s: %v", who, err)
				return
			}
		}
	}
}

// TestTakeover is a fleet of bwmarrin/snowflake that is taken over without a stop. Ours run beside
// it with nodes of their own, it ends, its nodes are advanced behind its last ID, and ours take them
// as well. All the time processes are killed. Its clock is ahead, as one may be.
func TestTakeover(t *testing.T) {
	const ahead = 700 // ms
	snowflake.Epoch -= ahead
	defer func() { snowflake.Epoch += ahead }()
	store := memory.New(time.Now)
	c := &column{by: map[int64]string{}}
	var fleet, all sync.WaitGroup
	old, endOld := context.WithCancel(t.Context())
	split, endSplit := context.WithCancel(t.Context())
	whole, endWhole := context.WithCancel(t.Context())
	defer func() { endOld(); endSplit(); endWhole(); fleet.Wait(); all.Wait() }()

	for node := range int64(4) {
		fleet.Go(func() { bwmarrins(old, c, node) })
	}
	time.Sleep(300 * time.Millisecond)
	for _, holder := range []string{"a", "b", ""} {
		all.Go(func() {
			idmints(split, t, c, store, "beside", claims.Options{
				Holder: holder, Part: &generator.Pool{Min: 512, Max: 1023},
			})
		})
	}
	time.Sleep(700 * time.Millisecond)
	endOld()
	fleet.Wait() // the last ID of the old fleet is in the column

	c.Lock()
	last := c.most
	c.Unlock()
	until := idtype.SnowflakeID(last).Time().Add(50 * time.Millisecond)
	log := must(launchlog.New(store, nil))
	floor := must(log.Counter("snowflake/floor")) // as idmint counter advance does
	must(floor.Advance(t.Context(), until.UnixMilli(), "takeover"))
	for _, holder := range []string{"c", "d", "e", ""} { // with the very nodes of the old fleet
		all.Go(func() {
			idmints(whole, t, c, store, "after", claims.Options{
				Holder: holder, Part: &generator.Pool{Min: 0, Max: 7},
			})
		})
	}
	time.Sleep(200 * time.Millisecond)
	endSplit()
	all.Go(func() { idmints(whole, t, c, store, "whole", claims.Options{Holder: "a"}) })
	time.Sleep(1500 * time.Millisecond)
	endWhole()
	all.Wait()

	if len(c.repeats) > 0 {
		t.Errorf("%d of %d IDs repeat, such as %d", len(c.repeats), len(c.by), c.repeats[0])
	}
	for _, who := range []string{"theirs", "beside", "after", "whole"} {
		n, least := c.count(who)
		t.Logf("%s: %d IDs from %v on", who, n, idtype.SnowflakeID(least).Time())
		if n < 100 || (who == "after" || who == "whole") && least <= last {
			t.Errorf("%s: %d IDs from %d on, the last of the old fleet is %d", who, n, least, last)
		}
	}
}
