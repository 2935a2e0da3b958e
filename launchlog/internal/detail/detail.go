// Package detail encodes the details of a launch log's events. The JSON is the same in every store.
package detail

import (
	"encoding/json"
	"strconv"

	"github.com/idmint/idmint/launchlog"
)

// Ended returns the detail of an event "ended".
func Ended(e launchlog.Ending) json.RawMessage {
	return text(map[string]any{"outcome": e.Outcome, "reason": e.Reason})
}

// HandingOn returns the ending of a launch whose digits another launch takes over.
func HandingOn(to int, actor string) launchlog.Ending {
	return launchlog.Ending{
		Outcome: launchlog.HandedOn, Actor: actor,
		Reason: "launch " + strconv.Itoa(to) + " goes on with its digits",
	}
}

// Advanced returns the detail of an event "advanced".
func Advanced(from, to int) json.RawMessage { return text(map[string]any{"from": from, "to": to}) }

// Counter returns the detail of an event "counter-advanced".
func Counter(name string, from, to int64) json.RawMessage {
	return text(map[string]any{
		"counter": name, "from": strconv.FormatInt(from, 10), "to": strconv.FormatInt(to, 10),
	})
}

func text(v map[string]any) json.RawMessage {
	b, _ := json.Marshal(v) // texts and numbers: it cannot fail
	return b
}
