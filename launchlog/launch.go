package launchlog

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Request says what is launched, who launches it, and why. Key, Service, Environment and Initiator
// are required. Texts are UTF-8 without control characters, at most 255 bytes (Reason and
// PipelineURL 4,096).
type Request struct {
	// Key makes Start idempotent. It identifies this deployment and no other: for example, it may
	// be the URL of the pipeline's run.
	Key string `json:"key,omitempty"`

	Service        string `json:"service,omitempty"`
	Environment    string `json:"environment,omitempty"`
	Initiator      string `json:"initiator,omitempty"`
	InitiatorKind  string `json:"initiator_kind,omitempty"` // such as "user", "ci" or "schedule"
	Version        string `json:"version,omitempty"`
	Commit         string `json:"commit,omitempty"`
	Ref            string `json:"ref,omitempty"` // branch or tag
	ArtifactDigest string `json:"artifact_digest,omitempty"`
	Ticket         string `json:"ticket,omitempty"`
	Reason         string `json:"reason,omitempty"`
	Approver       string `json:"approver,omitempty"`
	PipelineURL    string `json:"pipeline_url,omitempty"`
	// RollsBack is the launch that this one rolls back, or 0.
	RollsBack int `json:"rolls_back,omitempty"`
	// Data is a JSON object for the caller's use, at most 64 KiB.
	Data json.RawMessage `json:"data,omitempty"`

	// KnownLaunch is the highest launch number that the caller knows, or 0. If the store is below
	// it, the store has lost launches, and Start fails with [ErrBehind] rather than repeat their
	// numbers. Start does not detect lost generator numbers: see [Log.Advance].
	KnownLaunch int `json:"-"`
}

// Launch is a row of the log.
type Launch struct {
	Namespace string `json:"namespace"`
	ID        int    `json:"launch_id"`
	Request
	RequestHash string    `json:"request_hash"` // SHA-256 of the request's JSON, in hex
	Host        string    `json:"host"`         // on which it was started
	StartedAt   time.Time `json:"started_at"`   // see Times in the package's documentation
	EndedAt     time.Time `json:"ended_at,omitzero"`
	Outcome     Outcome   `json:"outcome,omitempty"`
	// FirstGenerator is the generator number with which the launch began: 0, or the next one after
	// the previous launch with the same digits.
	FirstGenerator int `json:"first_generator_id,omitempty"`
	NextGenerator  int `json:"next_generator_id"` // 0 ..= 100000: above all numbers taken
}

// Running reports whether the launch is still running.
func (l Launch) Running() bool { return l.EndedAt.IsZero() }

// Outcome is how a launch ended: one word of lower-case letters and dashes, at most 32 bytes.
type Outcome string

// The usual outcomes.
const (
	Succeeded  Outcome = "succeeded"
	Failed     Outcome = "failed"
	Aborted    Outcome = "aborted"
	RolledBack Outcome = "rolled-back"
	Superseded Outcome = "superseded"
)

// Ending says how a launch ends, and who ends it.
type Ending struct {
	Outcome Outcome
	Actor   string // who ends it; the default is the log's host
	Reason  string
}

// Claim is the record of a generator number that was taken.
type Claim struct {
	Namespace string    `json:"namespace"`
	Launch    int       `json:"launch_id"`
	Generator int       `json:"generator_id"`
	Token     string    `json:"token"` // of the operation; a retry with it returns the same number
	Host      string    `json:"host"`
	PID       int       `json:"pid"`
	ClaimedAt time.Time `json:"claimed_at"` // see Times in the package's documentation
}

// Tables returns the version of the tables for which the release that made the claim was written,
// or 0 for a release that did not record it: see package migrations.
func (c Claim) Tables() int {
	if c.Token == "" || c.Token[0] < 'a' || c.Token[0] > 'z' {
		return 0
	}
	return int(c.Token[0] - 'a')
}

// Event is an entry in the append-only history of a launch, or of the namespace if Launch is 0.
type Event struct {
	Namespace string          `json:"namespace"`
	Launch    int             `json:"launch_id,omitempty"`
	Kind      string          `json:"kind"` // "started", "ended", "advanced" or "counter-advanced"
	Actor     string          `json:"actor"`
	At        time.Time       `json:"at"` // see Times in the package's documentation
	Detail    json.RawMessage `json:"detail,omitempty"`
}

// Filter selects launches. The zero value selects the newest 100.
type Filter struct {
	Service     string
	Environment string
	Running     bool // only those that have not ended
	Before      int  // only launch numbers below this one, as for the next page
	Limit       int  // the most launches to return; 0 means 100
}

const defaultLimit = 100

// canonical checks the request and brings it into the form that is hashed and stored.
func (r Request) canonical() (Request, error) {
	for _, f := range [...]struct {
		name, value string
		max         int
		required    bool
	}{
		{"key", r.Key, 255, true},
		{"service", r.Service, 255, true},
		{"environment", r.Environment, 255, true},
		{"initiator", r.Initiator, 255, true},
		{"initiator_kind", r.InitiatorKind, 255, false},
		{"version", r.Version, 255, false},
		{"commit", r.Commit, 255, false},
		{"ref", r.Ref, 255, false},
		{"artifact_digest", r.ArtifactDigest, 255, false},
		{"ticket", r.Ticket, 255, false},
		{"reason", r.Reason, 4096, false},
		{"approver", r.Approver, 255, false},
		{"pipeline_url", r.PipelineURL, 4096, false},
	} {
		if f.required && f.value == "" {
			return r, &RequestError{f.name, f.value, "is required"}
		}
		if err := checkText(f.name, f.value, f.max); err != nil {
			return r, err
		}
	}
	for name, n := range map[string]int{"rolls_back": r.RollsBack, "known_launch": r.KnownLaunch} {
		if n != 0 && !validLaunch(n) {
			return r, &RequestError{name, fmt.Sprint(n), "is not a launch number"}
		}
	}
	var err error
	r.Data, err = canonicalObject(r.Data)
	return r, err
}

func checkText(field, value string, limit int) error {
	switch {
	case len(value) > limit:
		return &RequestError{field, value, fmt.Sprintf("is longer than %d bytes", limit)}
	case !utf8.ValidString(value):
		return &RequestError{field, value, "is not UTF-8"}
	case strings.ContainsFunc(value, unicode.IsControl):
		return &RequestError{field, value, "has a control character"}
	case strings.TrimSpace(value) != value:
		return &RequestError{field, value, "begins or ends with a space"}
	}
	return nil
}

const (
	maxData  = 64 << 10
	maxDepth = 100 // of nested arrays and objects
)

// canonicalObject sorts the names of a JSON object and drops white space, so that equal data has
// equal hashes.
func canonicalObject(data json.RawMessage) (json.RawMessage, error) {
	if len(data) == 0 {
		return nil, nil
	}
	refuse := func(reason string) (json.RawMessage, error) {
		return nil, &RequestError{"data", string(data), reason}
	}
	if !utf8.Valid(data) {
		return refuse("is not UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	value, err := decodeValue(d, maxDepth)
	if err == nil {
		_, err = d.Token()
	}
	object, ok := value.(map[string]any)
	switch {
	case errors.Is(err, errDuplicate) || errors.Is(err, errDepth):
		return refuse(err.Error())
	case err != io.EOF || !ok:
		return refuse("is not one JSON object")
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(object); err != nil {
		return nil, err
	}
	if b.Len() > maxData {
		return refuse("is longer than 64 KiB")
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

var (
	errDuplicate = errors.New("has an object with a duplicate name")
	errDepth     = fmt.Errorf("is nested more than %d deep", maxDepth)
)

// decodeValue decodes as json.Unmarshal does, but rejects objects that have a name twice, and
// limits the depth.
func decodeValue(d *json.Decoder, depth int) (any, error) {
	token, err := d.Token()
	delim, nested := token.(json.Delim)
	if err != nil || !nested {
		return token, err
	}
	if depth == 0 {
		return nil, errDepth
	}
	object, array := map[string]any{}, []any{}
	for d.More() {
		var name string
		if delim == '{' {
			token, err := d.Token()
			if err != nil {
				return nil, err
			}
			name = token.(string)
			if _, ok := object[name]; ok {
				return nil, errDuplicate
			}
		}
		value, err := decodeValue(d, depth-1)
		if err != nil {
			return nil, err
		}
		if delim == '{' {
			object[name] = value
		} else {
			array = append(array, value)
		}
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	if delim == '{' {
		return object, nil
	}
	return array, nil
}

// hash hashes everything except the key and what differs between retries of the same operation.
// Empty fields are omitted, so that a field added to Request does not change the hash of an older
// request.
func (r Request) hash() (string, error) {
	r.Key = ""
	b, err := json.Marshal(r)
	return digest(b), err
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func (e Ending) validate() error {
	if err := e.Outcome.validate(); err != nil {
		return err
	}
	if err := checkText("actor", e.Actor, 255); err != nil {
		return err
	}
	return checkText("reason", e.Reason, 4096)
}

func (o Outcome) validate() error {
	if o == "" || len(o) > 32 || strings.Trim(string(o), "abcdefghijklmnopqrstuvwxyz-") != "" {
		return &RequestError{
			"outcome", string(o), "is not one word of lower-case letters and dashes",
		}
	}
	return nil
}
