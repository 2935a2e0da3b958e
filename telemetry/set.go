package telemetry

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/idmint/idmint/claims"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/idtype/formats"
	"github.com/idmint/idmint/internal/nilable"
)

// A Set is a collection of generators, sources of claims and launch logs whose metrics are
// reported. The zero value is ready for use; keep one per process. It is safe for use by many
// goroutines, and does not have to be closed.
type Set struct {
	mu      sync.Mutex // guards the fields below; not held while Stats are read
	sources []source   // in the order of their names
	logs    []*watched // in the order of their namespaces
}

// A source is something that [Add] has added.
type source struct {
	name string
	tell func(now time.Time, tell teller)
}

// A teller receives a value of a metric. The labels are those after the generator's name.
type teller func(metric string, value float64, labels ...string)

// Stats are the states that generators and sources of claims report.
type Stats interface {
	generator.Stats | generator.DecimalStats | generator.SequenceStats | claims.Stats
}

// Add adds a generator or a source of claims under a name such as "orders", which has 1 to 63 bytes
// of UTF-8. The name becomes a label of metrics, so it must not be derived from data such as a
// user's number. The set keeps a reference until [Set.Remove]. The error is an [*InputError], also
// if the set already has the name.
func Add[S Stats](set *Set, name string, of interface{ Stats() S }) error {
	switch {
	case nilable.IsNil(of):
		return &InputError{"source of metrics", name, "must not be nil"}
	case name == "" || len(name) > 63 || !utf8.ValidString(name):
		return &InputError{"name", name, "must be a UTF-8 text of 1 to 63 bytes"}
	}
	set.mu.Lock()
	defer set.mu.Unlock()
	at, there := slices.BinarySearchFunc(set.sources, name, byName)
	if there {
		return &InputError{"name", name, "is already in use"}
	}
	set.sources = slices.Insert(set.sources, at, source{name, func(now time.Time, tell teller) {
		tellStats(any(of.Stats()), now, tell)
	}})
	return nil
}

// Remove removes what was added under a name, and reports whether there was anything.
func (s *Set) Remove(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, there := slices.BinarySearchFunc(s.sources, name, byName)
	if there {
		s.sources = slices.Delete(s.sources, at, at+1)
	}
	return there
}

func byName(s source, name string) int { return cmp.Compare(s.name, name) }

// Collect yields the present values of all metrics, each combination of metric and labels once. If
// a watched launch log is due for a reading, Collect waits for it: see [doctor.WatchOptions].
func (s *Set) Collect(ctx context.Context, yield func(Sample)) {
	s.mu.Lock()
	sources, logs := slices.Clone(s.sources), slices.Clone(s.logs)
	s.mu.Unlock()
	for _, of := range sources {
		of.tell(time.Now(), func(metric string, value float64, labels ...string) {
			labels = append([]string{of.name}, labels...)
			yield(Sample{metric, labels, value})
		})
	}
	for _, w := range logs {
		w.collect(ctx, func(metric string, value float64, labels ...string) {
			yield(Sample{metric, append([]string{w.namespace}, labels...), value})
		})
	}
}

// tellStats yields the metrics of a source.
func tellStats(stats any, now time.Time, tell teller) {
	switch st := stats.(type) {
	case generator.Stats:
		tellTimed(st, tell)
	case generator.DecimalStats:
		scheme := string(idtype.SchemeDecimal)
		tell("idmint.generator.ids", float64(st.Taken), scheme)
		tell("idmint.generator.refills", float64(len(st.Generators)), scheme)
		tell("idmint.generator.utilization", float64(st.Counter)/formats.DecimalMaxCounter, scheme)
		tell("idmint.generator.order.failures", float64(st.Unheard), scheme)
	case generator.SequenceStats:
		scheme := string(idtype.SchemeSequence)
		tell("idmint.generator.ids", float64(st.Taken), scheme)
		tell("idmint.generator.refills", float64(st.Blocks), scheme)
		tell("idmint.generator.utilization", st.BlockUsed, scheme)
	case claims.Stats:
		tellClaims(st, now, tell)
	}
}

// tellTimed yields the metrics of a generator whose IDs carry the time, according to the
// generator's clock.
func tellTimed(st generator.Stats, tell teller) {
	scheme := string(st.Scheme)
	tell("idmint.generator.ids", float64(st.Issued), scheme)
	tell("idmint.generator.refills", float64(st.Windows), scheme)
	tell("idmint.generator.utilization", st.PoolUsed, scheme)
	tell("idmint.generator.waits", float64(st.Waits), scheme)
	tell("idmint.generator.waiting", float64(st.Waiting), scheme)
	tell("idmint.generator.over", st.Over.Seconds(), scheme)
	tell("idmint.generator.clock.regressions", float64(st.Regressions), scheme)
	tell("idmint.generator.clock.behind", ahead(st.Time, st.Now), scheme)
	tell("idmint.generator.window.wait", ahead(st.NotBefore, st.Now), scheme)
	if !st.Until.IsZero() {
		tell("idmint.generator.window.remaining", ahead(st.Until, st.Now), scheme)
	}
}

func tellClaims(st claims.Stats, now time.Time, tell teller) {
	scheme := string(st.Scheme)
	for _, event := range []struct {
		name  string
		count uint64
	}{
		{"raised", st.Raised},
		{"taken", st.Taken},
		{"lost", st.Lost},
		{"freed", st.Freed},
		{"doubt", st.Doubts},
		{"failed", st.Failed},
	} {
		tell("idmint.claim.events", float64(event.count), scheme, event.name)
	}
	tell("idmint.claim.remaining", ahead(st.Until, now), scheme)
	away := 0.0
	if !st.Away.IsZero() {
		away = ahead(now, st.Away)
	}
	tell("idmint.claim.away", away, scheme)
}

// ahead returns by how many seconds t is ahead of another time. It is 0 if t is behind, or zero.
func ahead(t, of time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return max(0, t.Sub(of).Seconds())
}

// An InputError is returned for input that a [Set] rejects.
type InputError struct {
	Field  string
	Value  string
	Reason string
}

func (e *InputError) Error() string {
	return fmt.Sprintf("telemetry: %s %.80q %s", e.Field, e.Value, e.Reason)
}
