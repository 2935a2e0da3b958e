package integration_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/subprocess"
)

// A source mints some IDs, as texts.
type source func(context.Context) ([]string, error)

// minted are the schemes whose numbers a counter of the launch log guards, each with one number for
// all processes.
var minted = map[string]func(generator.ReadCounter, *generator.Options) (source, error){
	"trace": func(c generator.ReadCounter, o *generator.Options) (source, error) {
		g, err := generator.NewTrace(generator.Ceiling(7, c, 2*time.Second), o)
		return mint[idtype.TraceID](g), err
	},
	"eightbyte": func(c generator.ReadCounter, o *generator.Options) (source, error) {
		pair := generator.EightBytePair{Generator: 2047, Cluster: 15}
		g, err := generator.NewEightByte(idtype.EightByteSpread,
			generator.Ceiling(pair, c, 200*time.Millisecond), o)
		return mint[idtype.EightByteID](g), err
	},
	"short": func(c generator.ReadCounter, o *generator.Options) (source, error) {
		o.Random = rand.NewPCG(1, 2) // no luck: every process has the same bits
		g, err := generator.NewShort(generator.Ceiling(struct{}{}, c, 200*time.Millisecond), o)
		return mint[idtype.ShortID](g), err
	},
	"sno": func(c generator.ReadCounter, o *generator.Options) (source, error) {
		g, err := generator.NewSno(generator.Ceiling(65535, c, 200*time.Millisecond), o)
		return mint[idtype.SnoID](g), err
	},
	"sequence": func(c generator.ReadCounter, _ *generator.Options) (source, error) {
		g, err := generator.NewSequence(c, 50)
		return mint[idtype.SequenceID](g), err
	},
}

func mint[T idtype.ID](g generator.Source[T]) source {
	return func(ctx context.Context) ([]string, error) {
		ids := make([]T, 1+rand.IntN(30))
		n, err := g.Fill(ctx, ids)
		texts := make([]string, n)
		for i, id := range ids[:n] {
			texts[i] = id.String()
		}
		return texts, err
	}
}

// skewed is the system's clock, off by what the process is told.
type skewed struct {
	generator.WallClock
	by time.Duration
}

func (c skewed) UnixNano() int64 { return c.WallClock.UnixNano() + int64(c.by) }

// minter is a process that mints IDs and writes them down before it would use them, until it is
// killed. Where its clock is too far behind it says so, and ends.
func minter(args []string) error {
	path, out, scheme := args[0], args[1], args[2]
	by, err := time.ParseDuration(args[3])
	if err != nil {
		return err
	}
	log, err := openLog(path)
	if err != nil {
		return err
	}
	counter, err := log.Counter("test/" + scheme)
	if err != nil {
		return err
	}
	opts := &generator.Options{Clock: skewed{by: by}, MaxWait: time.Minute}
	next, err := minted[scheme](counter, opts)
	if err != nil {
		return err
	}
	file, err := openRecord(out)
	if err != nil {
		return err
	}
	for {
		ids, mintErr := next(context.Background())
		lines := ""
		for _, id := range ids {
			lines += scheme + " " + id + "\n"
		}
		if errors.Is(mintErr, generator.ErrClockBehind) {
			lines += "behind -\n"
		}
		if _, err := file.WriteString(lines); err != nil {
			return err
		}
		if errors.Is(mintErr, generator.ErrClockBehind) {
			time.Sleep(time.Hour) // until it is killed
		}
		if mintErr != nil {
			return mintErr
		}
		time.Sleep(time.Millisecond)
	}
}

// TestRestarts has processes mint with one and the same number. They are killed and restarted at
// random moments, with clocks that are off by anything up to an hour. Nothing but the ceiling in
// the launch log keeps them apart.
func TestRestarts(t *testing.T) {
	const processes, kills = 2, 25 // per scheme
	dir := t.TempDir()
	path := filepath.Join(dir, "restarts.db")
	newLogFile(t, path)

	started := 0
	begin := func(scheme string) *exec.Cmd {
		started++
		by := time.Duration(rand.Int64N(int64(400*time.Millisecond))) - 200*time.Millisecond
		if rand.IntN(8) == 0 {
			by = -time.Hour
		}
		cmd := subprocess.Command("minter", path, filepath.Join(dir, strconv.Itoa(started)), scheme,
			by.String())
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	running := map[string][]*exec.Cmd{}
	for scheme := range minted {
		for range processes {
			running[scheme] = append(running[scheme], begin(scheme))
		}
	}
	for range kills {
		time.Sleep(time.Duration(150+rand.IntN(200)) * time.Millisecond)
		for scheme, cmds := range running {
			i := rand.IntN(processes)
			subprocess.Kill(t, cmds[i])
			cmds[i] = begin(scheme)
		}
	}
	for _, cmds := range running {
		for _, cmd := range cmds {
			subprocess.Kill(t, cmd)
		}
	}

	seen, count := map[string]bool{}, map[string]int{}
	readRecords(t, dir, started, func(_ int, scheme, id string) {
		count[scheme]++
		if id != "-" && seen[scheme+id] {
			t.Errorf("%s ID %s was minted twice", scheme, id)
		}
		seen[scheme+id] = true
	})
	for scheme := range minted {
		if count[scheme] < 100 {
			t.Errorf("only %d %s IDs: the test shows too little", count[scheme], scheme)
		}
	}
	t.Logf("%d processes, %d kills: %v IDs, 0 repeats; a clock an hour behind was refused %d times",
		started, kills*len(minted)+processes*len(minted), count, count["behind"])
}
