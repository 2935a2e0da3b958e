package faults_test

import (
	"cmp"
	"flag"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// A result is what a fault came to.
type result struct {
	server, fault string
	did           string
	calls         int // of workers, and of generators in the background
	acknowledged  int
	doubts        int // attempts whose outcome the worker did not know
	ids, repeats  int
	ops           int // that porcupine checked
	longest       time.Duration
	took          time.Duration
	failed        bool
}

var results struct {
	mu  sync.Mutex
	all []result // guarded by mu
}

// add adds a result, and writes the page with those so far.
func (r result) add() error {
	results.mu.Lock()
	defer results.mu.Unlock()
	results.all = append(results.all, r)
	if *page == "" {
		return nil
	}
	return os.WriteFile(*page, []byte(pageOf(slices.Clone(results.all), *length)), 0o644)
}

// count fills in what a history says.
func (r *result) count(h *history) {
	for _, c := range h.calls {
		if c.Op == mint {
			continue
		}
		r.calls++
		r.doubts += c.doubts
		if c.Event == acknowledged {
			r.acknowledged++
		}
		r.longest = max(r.longest, c.Took)
	}
}

var page = flag.String("page", "", "write a page of the results to this file")

func pageOf(all []result, length time.Duration) string {
	slices.SortStableFunc(all, func(a, b result) int { return cmp.Compare(a.server, b.server) })
	var text strings.Builder
	english := message.NewPrinter(language.English) // which writes numbers with commas
	say := func(format string, args ...any) { english.Fprintf(&text, format, args...) }
	var sum result
	failed := 0
	for _, r := range all {
		sum.calls += r.calls
		sum.acknowledged += r.acknowledged
		sum.doubts += r.doubts
		sum.ids += r.ids
		sum.repeats += r.repeats
		sum.ops += r.ops
		sum.took += r.took
		if r.failed {
			failed++
		}
	}
	say(pageHead, time.Now().UTC().Format(time.DateOnly), runtime.NumCPU(), length)
	say("%d tests, %d failed. In %v workers made %d calls, and %d were acknowledged. The outcome "+
		"of %d attempts was in doubt. They minted %d IDs: **%d repeats**. Porcupine found an order for %d "+
		"operations.\n", len(all), failed, sum.took.Round(time.Minute), sum.calls, sum.acknowledged,
		sum.doubts, sum.ids, sum.repeats, sum.ops)
	server := ""
	for _, r := range all {
		if r.server != server {
			server = r.server
			say("\n## %s\n\n%s", server, pageTable)
		}
		name := r.fault
		if r.failed {
			name += ", **failed**"
		}
		say("| %s | %s | %d | %d | %d | %d | %d | %d | %.1f s | %.0f s |\n", name, r.did, r.calls,
			r.acknowledged, r.doubts, r.ids, r.repeats, r.ops, r.longest.Seconds(), r.took.Seconds())
	}
	return text.String()
}

const pageHead = `# Faults

Written by ` + "`make soak`" + ` on %s, on %d processors, with faults of each kind for %s: not to
be edited. Each row is a test of [soak_test/faults](../../soak_test/faults), in which a fleet of
processes works on a new launch log while faults are injected. The page shows that the log repeated
no number and lost no launch under these faults, on these servers, for this long. It does not show
how a cluster of yours behaves.

- The processes start launches, claim generator numbers, reserve and read numbers of log counters,
  and advance both. They also claim numbers of pools, and mint trace, sno, eightbyte and decimal IDs
  with them. They record each attempt before they make it, and the answer that they get.
- An audit then compares these records with the log: what was acknowledged must be there, what is
  there must have been asked for, and nothing may have been handed out or minted twice.
- [Porcupine](https://github.com/anishathalye/porcupine) looks for an order of the operations in
  which a single log would have given the same answers. An attempt in doubt has no answer.
- Calls are those of the workers and of generators in the background. A call has up to two minutes
  and retries within them, so the longest one shows how long the log was away for a worker, including
  the time for which its process was stopped.
- Contention and Hurry kill nothing. In Hurry the contexts of many calls end soon. Pooled puts
  PgBouncer between the clients and the server.

`

const pageTable = "| fault | what was done | calls | acknowledged | in doubt | IDs | repeats " +
	"| operations checked | longest call | time |\n|---|---|---|---|---|---|---|---|---|---|\n"
