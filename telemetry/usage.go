package telemetry

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/idmint/idmint/doctor"
	"github.com/idmint/idmint/launchlog"
)

// WatchOptions are the optional settings of [Set.Watch]. The zero value is a good choice.
type WatchOptions struct {
	// Readings reads the log. If nil, the set creates a watch with the defaults of
	// [doctor.NewWatch]. Pages and a health endpoint may share one with the set.
	Readings *doctor.Watch
	// Warn is called for a share that has reached 80, 90 or 95 %, once for each level. It may be
	// nil. The caller of [Set.Collect] waits until it returns.
	Warn func(namespace string, share doctor.Share)
}

// A watched is a launch log whose usage is reported.
type watched struct {
	namespace string
	opts      WatchOptions
	since     time.Time

	mu     sync.Mutex           // guards the fields below; not held during a reading or Warn
	heard  *doctor.Reading      // the last reading that Warn was called for
	levels map[doctor.Share]int // of that reading, by Of and Name
}

// Watch adds a launch log, to report how many of its numbers are used. The error is an
// [*InputError], also if the set already has a log of that namespace.
func (s *Set) Watch(log *launchlog.Log, opts *WatchOptions) error {
	w := &watched{namespace: log.Namespace(), since: time.Now()}
	if opts != nil {
		w.opts = *opts
	}
	if w.namespace == "" {
		return &InputError{"log", "nil", "must not be nil: create one with launchlog.New"}
	}
	if w.opts.Readings == nil {
		w.opts.Readings = doctor.NewWatch(log, nil)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	at, there := slices.BinarySearchFunc(s.logs, w.namespace,
		func(w *watched, namespace string) int { return cmp.Compare(w.namespace, namespace) })
	if there {
		return &InputError{"namespace", w.namespace, "is already watched"}
	}
	s.logs = slices.Insert(s.logs, at, w)
	return nil
}

// collect yields the last reading and its age. If the log is due for a reading, collect waits for
// it.
func (w *watched) collect(ctx context.Context, tell teller) {
	r, read := w.opts.Readings.Read(ctx), w.since
	if r.Good != nil {
		read = r.Good.At
		w.warn(r.Good)
		shares, running := fullest(r.Good.Shares)
		for _, share := range shares {
			tell("idmint.numbers.used", float64(share.Used), string(share.Of), share.Name)
			tell("idmint.numbers.utilization", share.Part(), string(share.Of), share.Name)
		}
		tell("idmint.launches.running", float64(running))
	}
	tell("idmint.usage.age", ahead(time.Now(), read))
	tell("idmint.usage.failures", float64(r.Failures))
}

// fullest keeps only the fullest launch and the fullest counter, so that there is one series per
// kind of number, however many launches and counters there are.
func fullest(shares []doctor.Share) (kept []doctor.Share, running int) {
	for _, share := range shares {
		switch share.Of {
		case doctor.Generators:
			running++
			share.Name = ""
		case doctor.Counters:
			share.Name = ""
		}
		i := slices.IndexFunc(kept, func(s doctor.Share) bool { return key(s) == key(share) })
		switch {
		case i < 0:
			kept = append(kept, share)
		case share.Part() > kept[i].Part():
			kept[i] = share
		}
	}
	return kept, running
}

// key returns a share without its figures.
func key(s doctor.Share) doctor.Share { return doctor.Share{Of: s.Of, Name: s.Name} }

// warn calls Warn for shares that have reached a higher level than before. It forgets shares that
// fell.
func (w *watched) warn(r *doctor.Reading) {
	var higher []doctor.Share
	w.mu.Lock()
	if r != w.heard {
		levels := map[doctor.Share]int{}
		for _, share := range r.Shares {
			if level := share.Level(); level > 0 {
				levels[key(share)] = level
				if level > w.levels[key(share)] {
					higher = append(higher, share)
				}
			}
		}
		w.heard, w.levels = r, levels
	}
	w.mu.Unlock()
	if w.opts.Warn != nil {
		for _, share := range higher {
			w.opts.Warn(w.namespace, share)
		}
	}
}
