package browser

import (
	"crypto/sha1" // as git names commits
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/memory"
	"github.com/idmint/idmint/viewer"
)

// now is the time in all scenes, so that a picture that is taken again shows the same.
var now = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// launchCount is the number of launches of the log that people look at.
const launchCount = 500

// explained is an ID of launch 487, whose generator 92 minted it.
const (
	explained       = "14150009200487"
	explainedLaunch = 487
)

// A scene is a launch log in memory, whose clock stands where the test puts it.
type scene struct {
	*testing.T
	at    time.Time
	store *memory.Store
}

func newScene(t *testing.T) *scene {
	s := &scene{T: t, at: now}
	s.store = memory.New(func() time.Time { return s.at })
	return s
}

// log is the launch log as a process sees it.
func (s *scene) log(host string, pid int) *launchlog.Log {
	s.Helper()
	log, err := launchlog.New(s.store, &launchlog.Options{Host: host, PID: pid})
	if err != nil {
		s.Fatal(err)
	}
	return log
}

func (s *scene) start(r launchlog.Request) launchlog.Launch {
	s.Helper()
	l, err := s.log("ci-1", 1).Start(s.Context(), r)
	if err != nil {
		s.Fatal(err)
	}
	return l
}

// claim takes generator numbers by processes of some hosts.
func (s *scene) claim(launch, n int) {
	s.Helper()
	for i := range n {
		log := s.log(fmt.Sprintf("shop-%d.example", 1+i%3), 4700+i)
		if _, err := log.Claim(s.Context(), launch); err != nil {
			s.Fatal(err)
		}
	}
}

// serve serves the pages of the log, and closes them with the test.
func (s *scene) serve() (origin string) {
	s.Helper()
	s.at = now
	pages, err := viewer.New(s.log("ops-1", 1), &viewer.Options{
		Now: func() time.Time { return now },
	})
	if err != nil {
		s.Fatal(err)
	}
	server := httptest.NewServer(pages)
	s.Cleanup(server.Close)
	return server.URL
}

// shop is a log of three services with many launches.
func shop(t *testing.T) (origin string) {
	t.Helper()
	s := newScene(t)
	s.at = now.Add(-launchCount * 5 * time.Hour)
	people := []string{"ann", "ben", "chris"}
	reasons := []string{"release of the week", "faster checkout", "fix of a rounding error"}
	log := s.log("ci-1", 1)
	for i := 1; i <= launchCount; i++ {
		l := s.start(launchlog.Request{
			Key:     fmt.Sprintf("https://ci.example/runs/%d", 7000+i),
			Service: []string{"shop", "billing", "search"}[i%3], Environment: []string{
				"production", "staging",
			}[i/3%2],
			Initiator: people[i%len(people)], InitiatorKind: "user",
			Version: fmt.Sprintf("v2.%d.0", i), Ticket: fmt.Sprintf("SHOP-%d", 4000+i),
			Approver: people[(i+1)%len(people)], Reason: reasons[i/2%len(reasons)],
			Commit: fmt.Sprintf("%x", sha1.Sum([]byte{byte(i), byte(i >> 8)})), Ref: "main",
			PipelineURL: fmt.Sprintf("https://ci.example/runs/%d", 7000+i),
			Data:        json.RawMessage(`{"region":"eu-1","flags":["fast"],"big":9007199254740993}`),
		})
		s.at = s.at.Add(20 * time.Minute)
		claims := 1 + i%4
		if i == explainedLaunch {
			claims = 100
		}
		s.claim(l.ID, claims)
		s.at = s.at.Add(4*time.Hour + 40*time.Minute)
		if i > launchCount-6 {
			continue // they run
		}
		outcome := launchlog.Succeeded
		switch {
		case i%11 == 4:
			outcome = launchlog.Failed
		case i%23 == 7:
			outcome = launchlog.RolledBack
		case i%29 == 11:
			outcome = launchlog.Aborted
		}
		if _, err := log.End(t.Context(), l.ID,
			launchlog.Ending{Outcome: outcome, Actor: "ci"}); err != nil {
			t.Fatal(err)
		}
	}
	s.at = now
	orders, err := log.Counter("orders")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := orders.Reserve(t.Context(), 0, 41_000); err != nil {
		t.Fatal(err)
	}
	return s.serve()
}

// hostile are texts that would do something if a page took them for more than texts.
var hostile = []string{
	`<script>window.broken=1;alert(1)</script>`,
	`"><img src=x onerror="window.broken=1"><svg onload=alert(2)>`,
	`</textarea></title></style><script>window.broken=1</script>`,
	`' onfocus=window.broken=1 autofocus x='`,
	`{{.}}${window.broken=1}<!--]]>`,
	"\u202e" + `exe.gpj` + "\u2066 \u200b\u00ad",
	`wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww` +
		`wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww`,
}

// strangers is a log whose every text is hostile.
func strangers(t *testing.T) (origin string) {
	t.Helper()
	s := newScene(t)
	for i, text := range hostile {
		data, err := json.Marshal(map[string]string{text: text})
		if err != nil {
			t.Fatal(err)
		}
		log := s.log(text, 7)
		l, err := log.Start(t.Context(), launchlog.Request{
			Key: fmt.Sprint(i) + text, Service: text, Environment: text, Initiator: text,
			InitiatorKind: text, Version: text, Commit: text, Ref: text, ArtifactDigest: text,
			Ticket: text, Reason: text, Approver: text,
			PipelineURL: []string{
				"javascript:window.broken=1//" + text, "data:text/html," + text,
				"https://ci.example/" + text,
			}[i%3],
			Data: data,
		})
		if err != nil {
			t.Fatal(err)
		}
		claims := 1
		if i < 2 { // package doctor tells of these
			claims = launchlog.MaxGenerators * 8 / 10
		}
		for range claims {
			if _, err := log.Claim(t.Context(), l.ID); err != nil {
				t.Fatal(err)
			}
		}
		lent, err := log.Counter(fmt.Sprint("sno/", i))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := lent.Raise(t.Context(), launchlog.Raise{
			To: now.Add(4*time.Second).UnixMilli() / 4, Note: launchlog.NewNote(), Holder: text,
		}); err != nil {
			t.Fatal(err)
		}
		if i > 1 && i%2 == 0 {
			if _, err := log.End(t.Context(), l.ID, launchlog.Ending{
				Outcome: launchlog.Failed, Actor: text, Reason: text,
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return s.serve()
}
