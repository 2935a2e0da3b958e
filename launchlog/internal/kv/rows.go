package kv

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/idmint/idmint/launchlog"
)

// The partitions of a namespace, and their rows:
//
//	NS/launches         state          the last launch number, and an unfinished advance
//	                    launch-00007   a launch as it was started
//	                    key-…          the launch of a key
//	                    event-000001   an advance of the launch numbers
//	NS/launch/00007     state          the next generator number of launch 7, and how it ended
//	                    claim-00042    a generator number that was taken
//	                    token-…        the generator number of a token
//	NS/counters         NAME           a log counter with that name exists, or was about to
//	NS/counter/NAME     state          the log counter's value
//	                    event-000001   an advance of the log counter
//	NS/order/service-… state          the service's order register
//
// Rows named state are overwritten, and the others are written once. The effect of a commit is
// therefore known from its other rows, however often the state was overwritten since, until a trim
// deletes them. After that, a claim in doubt counts as not made, and its number is left unused.
const stateRow = "state"

func launchesPart(namespace string) string { return namespace + "/launches" }

func launchPart(ref launchlog.Ref) string {
	return fmt.Sprintf("%s/launch/%05d", ref.Namespace, ref.Launch)
}

func countersPart(namespace string) string { return namespace + "/counters" }

func counterPart(ref launchlog.CounterRef) string {
	return ref.Namespace + "/counter/" + counterRow(ref.Name)
}

func orderPart(look launchlog.Look) string {
	return look.Namespace + "/order/service-" + segment(look.Service)
}

// launchRow keeps the order of the numbers: those with six digits or more sort after the others.
func launchRow(launch int) string {
	n := fmt.Sprintf("%05d", launch)
	if more := len(n) - 5; more > 0 {
		n = string(rune('a'+more-1)) + n
	}
	return "launch-" + n
}

func claimRow(generator int) string { return fmt.Sprintf("claim-%05d", generator) }

func eventRow(n int) string { return fmt.Sprintf("event-%06d", n) }

// behind returns a name between a row's name and the next one.
func behind(name string) string { return name + "~" }

// All claims and all events are between these names.
const (
	beforeClaims, afterClaims = "claim-", "claim."
	beforeEvents, afterEvents = "event-", "event."
)

func keyRow(key string) string { return "key-" + segment(key) }

func tokenRow(token string) string { return "token-" + segment(token) }

// counterRow returns a log counter's name as a segment, in the same order. A slash sorts between
// the dot and the digits. So does a dot followed by ~, because ~ is greater than all characters of
// names.
func counterRow(name string) string { return strings.ReplaceAll(name, "/", ".~") }

// plain contains the characters of texts that can be used as a segment unchanged.
const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."

// segment returns a text as part of a row's name: the text itself if possible, and otherwise its
// hash. A text as long as a hash is always hashed.
func segment(text string) string {
	if len(text) < sha256.Size*2 && strings.Trim(text, plain) == "" {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// launches is the state of a namespace's launches.
type launches struct {
	Last int `json:"last_launch_id"`
	// Digits is nil if none were set.
	Digits  *launchlog.Digits `json:"digits,omitempty"`
	Events  int               `json:"events,omitempty"`
	At      time.Time         `json:"at"` // of the newest launch or event
	Pending *advance          `json:"pending,omitempty"`
	// Advanced is the last launch before the newest advance. Up to it, no launch is running.
	Advanced int    `json:"advanced,omitempty"`
	Write    string `json:"write"`
}

// advance is an advance of the launch numbers that is not finished.
type advance struct {
	Word    string            `json:"word"` // identifies it
	UpTo    int               `json:"up_to"`
	To      int               `json:"to"`
	Actor   string            `json:"actor"`
	Outcome launchlog.Outcome `json:"outcome"`
	Reason  string            `json:"reason,omitempty"`
}

// started is a launch as it was started.
type started struct {
	Launch int `json:"launch_id"`
	launchlog.Request
	RequestHash    string    `json:"request_hash"`
	Host           string    `json:"host"`
	FirstGenerator int       `json:"first_generator_id,omitempty"`
	StartedAt      time.Time `json:"started_at"`
	Write          string    `json:"write"`
}

// keyed is the launch of a key.
type keyed struct {
	Key    string `json:"key"`
	Launch int    `json:"launch_id"`
	Write  string `json:"write"`
}

// progress is the state of a launch. The zero value is the state of a launch without claims.
type progress struct {
	NextGenerator int       `json:"next_generator_id"`
	At            time.Time `json:"at"` // of the newest claim, or of the end
	Ended         *ended    `json:"ended,omitempty"`
	Write         string    `json:"write"`
}

type ended struct {
	At      time.Time         `json:"at"`
	Actor   string            `json:"actor"`
	Outcome launchlog.Outcome `json:"outcome"`
	Reason  string            `json:"reason,omitempty"`
}

type claimed struct {
	Generator int       `json:"generator_id"`
	Token     string    `json:"token"`
	Host      string    `json:"host"`
	PID       int       `json:"pid"`
	ClaimedAt time.Time `json:"claimed_at"`
	Write     string    `json:"write"`
}

type tokened struct {
	Token     string `json:"token"`
	Generator int    `json:"generator_id"`
	Write     string `json:"write"`
}

// indexed records that a log counter with that name exists, or was about to be created.
type indexed struct {
	Name  string `json:"name"`
	Write string `json:"write"`
}

// counted is the state of a log counter.
type counted struct {
	Value  int64     `json:"value,string"`
	Note   string    `json:"note,omitempty"`
	Holder string    `json:"holder,omitempty"`
	Events int       `json:"events,omitempty"`
	At     time.Time `json:"at"`
	Write  string    `json:"write"`
}

// ordered is the state of an order register.
type ordered struct {
	Value int64     `json:"value,string"`
	Looks int64     `json:"looks"`
	At    time.Time `json:"at"`
	Write string    `json:"write"`
}

type happened struct {
	launchlog.Event
	Write string `json:"write"`
}

// word returns 65 random bits that identify a commit or an advance.
func word() string { return rand.Text()[:13] }

// A change is the new value that a commit gives a row.
type change struct {
	row   Row // as it was read; only the name if it does not exist
	value any
}

// commit writes values as JSON that people can read.
func (s *Store) commit(ctx context.Context, part string, changes ...change) (bool, error) {
	all := make([]Change, len(changes))
	for i, c := range changes {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false) // the data of a request stays unchanged
		if err := e.Encode(c.value); err != nil {
			return false, err
		}
		all[i] = Change{Name: c.row.Name, Version: c.row.Version, Value: bytes.TrimSpace(b.Bytes())}
	}
	return s.engine.Commit(ctx, part, all...)
}

// decode returns the value of a partition's row, or the zero value if the row does not exist.
func decode[T any](part string, r Row) (v T, err error) {
	if r.Version == 0 {
		return v, nil
	}
	if err := json.Unmarshal(r.Value, &v); err != nil {
		return v, fmt.Errorf("row %s of %s is damaged: %w", r.Name, part, err)
	}
	return v, nil
}

// decodeAll returns the values of rows.
func decodeAll[T any](rows []Row, part func(i int) string) ([]T, error) {
	all := make([]T, len(rows))
	for i, r := range rows {
		var err error
		if all[i], err = decode[T](part(i), r); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// later returns now, or before if that is later, because the clocks of the writers differ.
func later(now, before time.Time) time.Time {
	if now.Before(before) {
		return before
	}
	return now
}
