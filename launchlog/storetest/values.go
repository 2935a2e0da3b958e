package storetest

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/idmint/idmint/launchlog"
)

// differentNames tests keys, services and environments that are different although a collation may
// treat them as equal.
func differentNames(t *testing.T, store launchlog.Store) {
	l := newLog(t, store, nil)
	all := []string{
		"key", "Key", "KEY", "kéy", "ke\u0301y", "kėy", "ｋey", "ke\u00ady", "k\u200bey",
		"strasse", "straße", "STRASSE", "ı", "i", "I", "İ",
		"😀", "😁", "𝕜", "k e y", "k  e y", "k%y", "k_y", `k\y`, `k\\y`, "k'y", `k"y`, "æ",
		"ae", "1", "01", "1.0", "1e0", "null", "NULL",
	}
	for i, name := range all {
		r := Request(name)
		r.Service, r.Environment = name, name
		launch, err := l.Start(ctx, r)
		if err != nil || launch.ID != i+1 || launch.Key != name {
			t.Errorf("key %q: launch %d of %q, %v; want %d", name, launch.ID, launch.Key, err, i+1)
		}
	}
	for i, name := range all {
		for _, f := range []launchlog.Filter{{Service: name}, {Environment: name}} {
			found := must(l.List(ctx, f))(t)
			if len(found) != 1 || found[0].ID != i+1 {
				t.Errorf("%+v: %d launches, want launch %d", f, len(found), i+1)
			}
		}
	}
}

// limits tests that the longest and strangest valid values are returned unchanged.
func limits(t *testing.T, store launchlog.Store) {
	host := strings.Repeat("h", 255)
	l := newLog(
		t, store,
		&launchlog.Options{Namespace: strings.Repeat("n", 63), Host: host, PID: math.MaxInt64},
	)
	long := func(letter string, n int) string { return strings.Repeat(letter, n/len(letter)) }
	data := func(text string) json.RawMessage { return json.RawMessage(text) }
	most := `{"a":"` + strings.Repeat("x", 64<<10-1-len(`{"a":""}`)) + `"}`
	for i, r := range []launchlog.Request{
		{
			Key: long("k", 255), Service: long("s", 255), Environment: long("e", 255),
			Initiator: long("i", 255), InitiatorKind: long("k", 255),
			Version: long("v", 255), Commit: long("c", 255), Ref: long("r", 255),
			ArtifactDigest: long("d", 255), Ticket: long("t", 255),
			Reason: long("r", 4096), Approver: long("a", 255), PipelineURL: long("u", 4096),
			Data: data(most),
		},
		{
			Key: long("😀", 255), Service: long("😀", 255), Environment: long("é", 255),
			Initiator: long("日", 255), Reason: long("😀", 4096),
			PipelineURL: long(
				"日", 4096), Data: data(
				`{"é":"😀","\u0000":"\u0000\ud83d\ude00","":{},"z":[]}`),
		},
		{
			Key: "numbers", Service: "s", Environment: "e", Initiator: "i",
			Data: data(`{"a":1e400,"b":-0,"c":123456789012345678901234567890.1230,"d":1E+2}`),
		},
		{
			Key: "depth", Service: "s", Environment: "e", Initiator: "i",
			Data: data(`{"a":` + strings.Repeat("[", 99) + strings.Repeat("]", 99) + `}`),
		},
		{
			Key: "quotes", Service: `'; --`, Environment: `\`, Initiator: `"%s\n?$1:x`,
			Reason: "?\u2028\ufeff\u00a0\ufffd<&>!", Data: data(`{"a":"<&>"}`),
		},
	} {
		launch, err := l.Start(ctx, r)
		if err != nil {
			t.Errorf("request %d: %v", i, err)
			continue
		}
		shown := must(l.Show(ctx, launch.ID))(t)
		want(t, "shown", shown, launch)
		again := must(l.Start(ctx, r))(t)
		want(t, "again", again, launch)
		launch.Data, r.Data = nil, nil // in another form, which the hash covers
		want(t, fmt.Sprintf("request %d", i), launch.Request, r)
		want(t, "host", launch.Host, host)
	}
	claim := must(l.Claim(ctx, 1))(t)
	want(t, "process", claim.PID, math.MaxInt64)
	want(t, "host", claim.Host, host)
	ending := launchlog.Ending{
		Outcome: launchlog.Outcome(long("o", 32)), Actor: long("日", 255),
		Reason: long(`"`, 4096),
	}
	ended := must(l.End(ctx, 1, ending))(t)
	want(t, "outcome", ended.Outcome, ending.Outcome)
	found := must(l.Events(ctx, 1))(t)
	var detail struct{ Outcome, Reason string }
	if len(found) != 2 || found[1].Actor != ending.Actor ||
		json.Unmarshal(found[1].Detail, &detail) != nil || detail.Reason != ending.Reason {
		t.Errorf("events: %+v", found)
	}
}
