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
	// Every is how long what was read is told, before the log is read again. It is a minute if
	// zero. A reading asks for all launches that run and for all counters, in pages of 1,000.
	Every time.Duration
	// Timeout is how long a reading may take. It is 2 s if zero. A reading that failed is made
	// again after Every, so a log that is away costs a scrape now and then as much.
	Timeout time.Duration
	// Warn hears of a share that has come to 80, 90 or 95 %, once for each. It may be nil. The
	// caller of [Set.Collect] waits for it.
	Warn func(namespace string, share doctor.Share)
}

// A watched is a launch log whose usage is told of.
type watched struct {
	log  *launchlog.Log
	opts WatchOptions

	mu       sync.Mutex // guards what follows; not held while the log is read
	reading  bool
	next     time.Time      // when to read again
	at       time.Time      // of the last reading that succeeded, or of Watch
	shares   []doctor.Share // one of each kind of numbers, and of each pool of claims
	running  int            // launches
	known    bool           // there was a reading
	failures uint64

	levels map[doctor.Share]int // that Warn has heard of, by Of and Name; for who reads
}

// Watch adds a launch log, to tell how many of its numbers are used up. The error is an
// [*InputError], also for a log of a namespace that the set has.
func (s *Set) Watch(log *launchlog.Log, opts *WatchOptions) error {
	w := &watched{log: log, at: time.Now(), levels: map[doctor.Share]int{}}
	if opts != nil {
		w.opts = *opts
	}
	switch {
	case log.Namespace() == "":
		return &InputError{"log", "nil", "is no log: launchlog.New makes one"}
	case w.opts.Every < 0:
		return &InputError{"Every", w.opts.Every.String(), "is negative"}
	case w.opts.Timeout < 0:
		return &InputError{"Timeout", w.opts.Timeout.String(), "is negative"}
	}
	w.opts.Every = cmp.Or(w.opts.Every, time.Minute)
	w.opts.Timeout = cmp.Or(w.opts.Timeout, 2*time.Second)
	s.mu.Lock()
	defer s.mu.Unlock()
	at, there := slices.BinarySearchFunc(s.logs, log.Namespace(),
		func(w *watched, namespace string) int { return cmp.Compare(w.log.Namespace(), namespace) })
	if there {
		return &InputError{"namespace", log.Namespace(), "is watched already"}
	}
	s.logs = slices.Insert(s.logs, at, w)
	return nil
}

// read reads the log if its turn has come, and nobody else does.
func (w *watched) read(ctx context.Context) {
	if !w.begin() {
		return
	}
	ended := false
	defer func() { // also where a store or Warn panics
		if !ended {
			w.end(nil, context.Canceled)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, w.opts.Timeout)
	defer cancel()
	shares, err := doctor.Usage(ctx, w.log, nil)
	if err == nil {
		w.warn(shares)
	}
	ended = true
	w.end(shares, err)
}

func (w *watched) begin() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.reading || time.Now().Before(w.next) {
		return false
	}
	w.reading = true
	return true
}

func (w *watched) end(shares []doctor.Share, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	w.reading, w.next = false, now.Add(w.opts.Every)
	if err != nil {
		w.failures++
		return
	}
	w.at, w.known = now, true
	w.shares, w.running = fullest(shares)
}

// fullest keeps the fullest launch and the fullest counter. So there are as many series as kinds
// of numbers, however many launches and counters there are.
func fullest(shares []doctor.Share) (kept []doctor.Share, running int) {
	for _, share := range shares {
		switch share.Of {
		case doctor.Generators:
			running++
			share.Name = ""
		case doctor.Counters, doctor.Decimal:
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

// key is a share without its figures.
func key(s doctor.Share) doctor.Share { return doctor.Share{Of: s.Of, Name: s.Name} }

// warn tells of shares that have come to a higher level than before. Those that fell are forgotten.
func (w *watched) warn(shares []doctor.Share) {
	levels := map[doctor.Share]int{}
	for _, share := range shares {
		level := share.Level()
		if level == 0 {
			continue
		}
		levels[key(share)] = level
		if w.opts.Warn != nil && level > w.levels[key(share)] {
			w.opts.Warn(w.log.Namespace(), share)
		}
	}
	w.levels = levels
}

// tell tells what was read last.
func (w *watched) tell(tell teller) {
	w.mu.Lock()
	shares, running, known := w.shares, w.running, w.known
	age, failures := ahead(time.Now(), w.at), w.failures
	w.mu.Unlock()
	for _, share := range shares {
		tell(&numbersUsed, float64(share.Used), string(share.Of), share.Name)
		tell(&numbersPart, share.Part(), string(share.Of), share.Name)
	}
	if known {
		tell(&launchesRunning, float64(running))
	}
	tell(&usageAge, age)
	tell(&usageFailures, float64(failures))
}
