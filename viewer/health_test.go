package viewer_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idmint/idmint/doctor"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/checks"
	"github.com/idmint/idmint/launchlog/memory"
	"github.com/idmint/idmint/viewer"
)

// What is nearly used up is said with a remedy, in words and for machines.
func TestHealth(t *testing.T) {
	store := sampleStore(t)
	log := newLog(t, store, nil)
	orders, err := log.Counter("orders")
	if err == nil {
		_, err = orders.Advance(t.Context(), 9e18, "ann")
	}
	if err != nil {
		t.Fatal(err)
	}
	h := newPages(t, log, nil)
	want(t, get(t, h, "/health"), 200, "Something needs your attention", "9,000,000,000,000,000,000 of", "97",
		"Use a new log counter", `class="card gauge bad"`, "a sequence of an app",
		`class="card result finding"`, "checks passed")
	w := get(t, h, "/healthz")
	want(t, w, 503, `"status":"failing"`, `"check":"counters"`, `"used":"9000000000000000000"`)
	want(t, get(t, h, "/health", "Accept", "application/json"), 200, `"status":"failing"`)
	want(t, get(t, h, "/healthz", "Accept", "text/plain"), 503, "failing\n")
	want(t, get(t, sample(t), "/healthz", "Accept", "text/plain"), 200, "ok\n")
}

// Ceilings and lent numbers are told with their distance from now.
func TestHealthCeilings(t *testing.T) {
	log := newLog(t, memory.New(func() time.Time { return now }), nil)
	advance := func(name string, to int64) {
		counter, err := log.Counter(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := counter.Advance(t.Context(), to, "ann"); err != nil {
			t.Fatal(err)
		}
	}
	advance("sno/7", now.Add(4*time.Second).UnixMilli()/4)
	advance("trace/9", now.Add(-49*time.Hour).Unix())
	advance("short", now.Add(4*time.Second).UnixMilli())
	h := newPages(t, log, nil)
	want(t, get(t, h, "/health"), 200, "in 4 seconds", "2 days ago", `<span class="state is-running">lent`,
		"the ceiling of short IDs: in 4 seconds", "1 of 65,536")
	if page := get(t, h, "/health").Body.String(); strings.Contains(page, "<code>sno/7") {
		t.Error("the counter of a lent number stands among those of apps")
	}
}

// Machines get the rows that people see.
func TestHealthForMachines(t *testing.T) {
	store := sampleStore(t)
	log := newLog(t, store, nil)
	counter, err := log.Counter("sno/7")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := counter.Raise(t.Context(), launchlog.Raise{
		To: now.Add(4*time.Second).UnixMilli() / 4, Note: launchlog.NewNote(), Holder: "pod-7",
	}); err != nil {
		t.Fatal(err)
	}
	for i := range 30 { // more than the page lists
		_ = start(t, log, request(fmt.Sprint("more ", i)))
		other, err := log.Counter(fmt.Sprint("numbers/", i))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := other.Reserve(t.Context(), 0, 1); err != nil {
			t.Fatal(err)
		}
	}
	var got struct {
		Status          string
		Running, Passed []any
		Lent            []struct{ Holder string }
		Counters        []any
		MoreRunning     int `json:"more_running"`
		MoreCounters    int `json:"more_counters"`
	}
	h := newPages(t, log, nil)
	w := get(t, h, "/health", "Accept", "application/json")
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || got.Status != "ok" ||
		len(got.Running) != 20 || got.MoreRunning != 16 || len(got.Lent) != 1 ||
		got.Lent[0].Holder != "pod-7" || len(got.Counters) != 20 || got.MoreCounters != 11 ||
		len(got.Passed) == 0 {
		t.Errorf("%v, %+v: %s", err, got, w.Body)
	}
	want(t, get(t, h, "/health"), 200, "have used less: 16.", "Not listed: 11.", "pod-7")
}

// Few pages ask the log at once. Whoever waits too long for a turn hears when to try again.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &crowded{Store: memory.New(nil)}
		h, err := viewer.New(newLog(t, store, nil), nil)
		if err != nil {
			t.Fatal(err)
		}
		const callers = 30
		answers := make(chan *httptest.ResponseRecorder, callers)
		for range callers {
			go func() { answers <- get(t, h, "/launches") }()
		}
		refused := 0
		for range callers {
			w := <-answers
			if w.Code == 200 {
				continue
			}
			refused++
			want(t, w, 503, "Too many requests at once")
			if w.Header().Get("Retry-After") == "" {
				t.Error("it does not say when to try again")
			}
		}
		if store.most != 8 || refused != callers-8 {
			t.Errorf("%d asked at once, and %d were refused", store.most, refused)
		}
		// The turns were given back.
		want(t, get(t, h, "/launches"), 200)
		want(t, get(t, h, "/?q=14150009200065"), 200, "has no launch 65")
	})
}

// A crowded store takes long, and counts who asks at once.
type crowded struct {
	launchlog.Store
	mu        sync.Mutex
	now, most int
}

func (c *crowded) Launches(
	ctx context.Context, namespace string, filter launchlog.Filter,
) ([]launchlog.Launch, error) {
	c.mu.Lock()
	c.now++
	c.most = max(c.most, c.now)
	c.mu.Unlock()
	time.Sleep(3 * time.Second)
	c.mu.Lock()
	c.now--
	c.mu.Unlock()
	return c.Store.Launches(context.WithoutCancel(ctx), namespace, filter)
}

// People and machines share a reading, with what the caller's checks say. The page says how old it
// is, and when a log that did not answer is asked again.
func TestHealthReadings(t *testing.T) {
	store := &watcher{of: sampleStore(t), err: errors.New("away")}
	c, log := &clock{now}, newLog(t, store, nil)
	h := newPages(t, log, &viewer.Options{
		Now: c.now, Readings: doctor.NewWatch(log, &doctor.WatchOptions{
			Timeout: time.Hour, Now: c.now,
			Checks: func(context.Context) ([]checks.Result, error) {
				return []checks.Result{checks.New("rights", checks.Note, "of the database")}, nil
			},
		}),
	})
	want(t, get(t, h, "/healthz"), 503, "away")
	reads := store.reads
	store.err = nil
	c.at = now.Add(4 * time.Second)
	want(t, get(t, h, "/health"), 503, "away", "Tried 4 seconds ago", "5 seconds after that")
	if store.reads != reads {
		t.Errorf("%d questions, then %d", reads, store.reads)
	}
	c.at = now.Add(5 * time.Second)
	want(t, get(t, h, "/health"), 200, "of the database", "there is advice", "shown for 1 minute")
	reads = store.reads
	c.at = now.Add(64 * time.Second)
	want(t, get(t, h, "/healthz"), 200, `"age_seconds":59`)
	want(t, get(t, h, "/health"), 200, "Read 59 seconds ago")
	if store.reads != reads {
		t.Errorf("%d questions, then %d", reads, store.reads)
	}
}

// A log that is away is said to be, within a bounded time. IDs are explained all the same.
func TestAway(t *testing.T) {
	for name, of := range map[string]*watcher{
		"error": {err: &launchlog.AttemptError{Err: errors.New("connection refused <b>")}},
		"hang":  {hang: true},
		"final": {err: &launchlog.SchemaError{Have: 2, Want: 3}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				of.of = memory.New(nil)
				h, err := viewer.New(newLog(t, of, nil), nil)
				if err != nil {
					t.Fatal(err)
				}
				for _, path := range []string{"/launches", "/launches/65", "/health", "/healthz"} {
					began := time.Now()
					w := get(t, h, path)
					want(t, w, 503)
					if d := time.Since(began); d > 3*time.Second {
						t.Errorf("%s took %v", path, d)
					}
					if strings.HasPrefix(path, "/launches") && w.Header().Get("Retry-After") == "" {
						t.Errorf("%s does not say when to try again", path)
					}
					if strings.Contains(w.Body.String(), "refused <b>") {
						t.Errorf("%s: %s", path, w.Body)
					}
				}
				began := time.Now()
				want(t, get(t, h, "/?q=14150009200065"), 200, "The launch log does not answer",
					`<code class="digits">1415</code>`)
				if d := time.Since(began); d > 3*time.Second {
					t.Errorf("to explain took %v", d)
				}
				want(t, get(t, h, "/?q=8fhmi7mfls62jp64"), 200)
			})
		})
	}
}

// Without a log the pages say what they lack.
func TestWithoutLog(t *testing.T) {
	h := newPages(t, nil, nil)
	for _, path := range []string{"/launches", "/launches/65", "/health"} {
		want(t, get(t, h, path), 404, "There is no launch log here", "idmint serve --db")
	}
	want(t, get(t, h, "/healthz"), 200, `"status":"ok"`)
	want(t, get(t, h, "/"), 200, "without a launch log", "nav-explain")
	if body := get(t, h, "/").Body.String(); strings.Contains(body, "nav-launches") ||
		strings.Contains(body, "nav-health") {
		t.Error(body)
	}
}

func TestMetrics(t *testing.T) {
	want(t, get(t, newPages(t, nil, nil), "/metrics"), 404)
	h := newPages(t, nil, &viewer.Options{Metrics: http.HandlerFunc(
		func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("idmint_x 1\n")) })})
	want(t, get(t, h, "/metrics"), 200, "idmint_x 1")
}

// Numbers of 64 bits are texts in JSON.
func TestNumbersAreTexts(t *testing.T) {
	h := sample(t)
	for path, text := range map[string]string{
		"/healthz":           `"used":"120","max":"99999"`,
		"/health":            `"lent":[],"counters":[{"name":"orders","value":"9007199254740993"`,
		"/?q=14150000000065": `"id":{"scheme":"decimal","id":"14150000000065",`,
		"/launches/65":       `"pid":"4711"`,
	} {
		page := get(t, h, path, "Accept", "application/json")
		want(t, page, 200, text)
		if strings.Contains(page.Body.String(), `"pid":4`) {
			t.Errorf("%s has a number: %s", path, page.Body)
		}
	}
	want(t, get(t, h, "/?q=14150000000065", "Accept", "application/json"), 200, `"pid":"4711"`)
}
