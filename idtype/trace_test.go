package idtype_test

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/idmint/idmint/idtype"
)

// publishedTrace is a line of traceid.jsonl, and the worked value of the type's own doc.
const publishedTrace = 4646428214845635103

type validatorVector struct {
	Raw          uint64 `json:",string"`
	AllowedSecs  *int64 `json:"allowed_secs,string"`
	AllowedNanos *int64 `json:"allowed_nanos"`
	NowUnix      int64  `json:"now_unix"`
	NowTruncated int    `json:"now_truncated"`
	Timestamp    int    `json:"timestamp"`
	Verdict      string `json:"verdict"`
}

func TestTraceValidatorVectors(t *testing.T) {
	verdicts := map[string]int{}
	for i, v := range readVectors[validatorVector](t, "traceid_validator.jsonl", 80) {
		verdicts[v.Verdict]++
		t.Run(fmt.Sprintf("%d/%d", i+1, v.Raw), func(t *testing.T) {
			now := time.Unix(v.NowUnix, 0)
			if got := idtype.TraceTimestamp(now); got != v.NowTruncated {
				t.Errorf("TraceTimestamp of now = %d, want %d", got, v.NowTruncated)
			}
			id := idtype.TraceID(v.Raw) // with the top bit it is negative
			if got := id.Timestamp(); got != v.Timestamp {
				t.Errorf("Timestamp = %d, want %d", got, v.Timestamp)
			}
			// elfo does not look at the time: no time is too far away
			allowed := time.Duration(idtype.TracePeriod / 2)
			if v.AllowedSecs != nil {
				allowed = time.Duration(*v.AllowedSecs)*time.Second + time.Duration(*v.AllowedNanos)
			}
			// The validator works in whole seconds: the time within the second of now changes
			// nothing.
			for _, nanos := range []time.Duration{0, 1, 999_999_999} {
				err := id.ValidateAt(now.Add(nanos), allowed)
				switch v.Verdict {
				case "ok":
					if err != nil {
						t.Errorf("%d ns later: %v", nanos, err)
					}
				case "cannot be zero":
					wantInputError(t, err, "TraceID", "0", idtype.ErrZero)
				case "highest bit must be zero":
					wantInputError(t, err, "TraceID", strconv.FormatInt(int64(id), 10), nil)
					if errors.Is(err, idtype.ErrZero) || errors.Is(err, idtype.ErrTraceTime) {
						t.Errorf("error is %v", err)
					}
				case "invalid timestamp":
					wantInputError(t, err, "TraceID", id.String(), idtype.ErrTraceTime)
				default:
					t.Errorf("unknown verdict %q", v.Verdict)
				}
			}
		})
	}
	if len(verdicts) != 4 {
		t.Errorf("verdicts: %v, want all four", verdicts)
	}
}

func TestTraceBoundsOfParts(t *testing.T) {
	type parts = idtype.TraceParts
	testPartBounds(t, "TraceID", []partBound[parts, idtype.TraceID]{
		{"smallest", parts{Bottom: 1}, "1"},
		{"node alone", parts{Node: 1, Bottom: 1}, "4194305"},
		{"timestamp alone", parts{Timestamp: 1, Bottom: 1}, "274877906945"},
		{
			"largest",
			parts{Timestamp: 33_554_431, Node: 65_535, Bottom: 4_194_303},
			"9223372036854775807",
		},
		{"no bottom", parts{Timestamp: 1, Node: 1}, "bottom"},
		{"bottom above", parts{Bottom: 4_194_304}, "bottom"},
		{"bottom below", parts{Bottom: -1}, "bottom"},
		{"node above", parts{Node: 65_536, Bottom: 1}, "node_no"},
		{"node below", parts{Node: -1, Bottom: 1}, "node_no"},
		{"timestamp above", parts{Timestamp: 33_554_432, Bottom: 1}, "timestamp"},
		{"timestamp far above", parts{Timestamp: math.MaxInt, Bottom: 1}, "timestamp"},
		{"timestamp below", parts{Timestamp: -1, Bottom: 1}, "timestamp"},
		{"the first bad part is named", parts{Node: -1}, "node_no"},
	})
	if idtype.TraceMaxTimestamp != 33_554_431 || idtype.TraceMaxNode != 65_535 ||
		idtype.TraceMaxBottom != 4_194_303 ||
		idtype.TraceTimeStep != 1<<38 || idtype.TracePeriod != 33_554_432*time.Second {
		t.Error("the exported bounds are not those of the layout")
	}
}
