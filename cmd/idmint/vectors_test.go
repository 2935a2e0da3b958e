package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/idmint/idmint/idtype"
)

// vectorFiles were made by the reference implementations. Fields are ours by the names of theirs,
// the ID's text first.
var vectorFiles = []struct {
	scheme, file, text string
	names, parts       map[string]string
}{
	{
		"decimal", "decimalid", "id",
		map[string]string{"id": "id"},
		map[string]string{
			"counter": "counter", "generator_id": "generator_id",
			"launch_id": "launch_id",
		},
	},
	{
		"trace", "traceid", "id",
		map[string]string{"id": "id"},
		map[string]string{"timestamp": "timestamp", "node_no": "node_no", "bottom": "bottom"},
	},
	{
		"eightbyte", "eightbyte", "hex",
		map[string]string{"id": "hex"},
		map[string]string{
			"mode": "mode", "unix_ms": "timestamp_ms", "sequence": "sequence",
			"generator_id": "generator", "cluster_id": "cluster",
		},
	},
	{
		"short", "shortid", "text",
		map[string]string{"id": "id", "text": "text"},
		map[string]string{"unix_ms": "unix_ms", "sequence": "sequence", "random": "random"},
	},
	{
		"sno", "sno", "text",
		map[string]string{"id": "text", "hex": "hex"},
		map[string]string{
			"unix_ms": "unix_ms", "tick_tock": "ticktock", "meta": "meta",
			"partition": "partition", "sequence": "sequence",
		},
	},
}

// Inspect finds in every vector's ID the fields of the vector, and no others; compose makes the ID
// of them, with its names or without.
func TestVectors(t *testing.T) {
	s := inside(t)
	for _, f := range vectorFiles {
		file, err := os.Open("../../idtype/testdata/" + f.file + ".jsonl")
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		var texts, parts []string
		var want []map[string]any
		for scan := bufio.NewScanner(file); scan.Scan(); {
			var v map[string]any
			d := json.NewDecoder(strings.NewReader(scan.Text()))
			d.UseNumber()
			if err := d.Decode(&v); err != nil {
				t.Fatal(err)
			}
			text := v[f.text].(string)
			if strings.Trim(text, "0") == "" || f.scheme == "sno" && strings.Trim(text, "2") == "" {
				continue // zero, which is no ID
			}
			part := map[string]any{}
			for ours, theirs := range f.parts {
				part[ours] = v[theirs]
			}
			b, err := json.Marshal(part)
			if err != nil {
				t.Fatal(err)
			}
			for ours, theirs := range f.names {
				part[ours] = v[theirs]
			}
			part["scheme"] = f.scheme
			texts, parts, want = append(texts, text), append(parts, string(b)), append(want, part)
		}
		if len(texts) < 100 {
			t.Fatalf("%s: %d vectors", f.file, len(texts))
		}
		all := strings.Join(texts, "\n") + "\n"
		inspected := s.feed(all, "inspect", "--scheme", f.scheme, "--json")
		if inspected.status != 0 || inspected.stderr != "" {
			t.Fatalf("%s: %v", f.scheme, inspected)
		}
		for i, line := range lines(inspected.stdout) {
			var got map[string]any
			d := json.NewDecoder(strings.NewReader(line))
			d.UseNumber()
			err := d.Decode(&got)
			if err != nil || !maps.EqualFunc(got, want[i],
				func(a, b any) bool { return reflect.DeepEqual(a, b) }) {
				t.Errorf("inspect %s: %s\nwant %v, %v", texts[i], line, want[i], err)
			}
		}
		for _, input := range []string{strings.Join(parts, "\n"), inspected.stdout} {
			got := s.feed(input, "compose", "--scheme", f.scheme)
			if got.stdout != all || got.status != 0 || got.stderr != "" {
				t.Errorf("compose of %s: %v", f.scheme, got)
			}
		}
	}
}

// randomTexts are IDs of a scheme, of all times and widths.
var randomTexts = map[string]func() (fmt.Stringer, error){
	"decimal": func() (fmt.Stringer, error) {
		return idtype.DecimalParts{
			Counter:   1 + rand.IntN(1+rand.IntN(idtype.DecimalMaxCounter)),
			Generator: rand.IntN(1 + rand.IntN(idtype.DecimalMaxGenerator+1)),
			Launch:    rand.IntN(1 + rand.IntN(idtype.DecimalMaxLaunch+1)),
		}.ID()
	},
	"trace": func() (fmt.Stringer, error) {
		return idtype.TraceParts{
			Timestamp: rand.IntN(1 + rand.IntN(idtype.TraceMaxTimestamp+1)),
			Node:      rand.IntN(idtype.TraceMaxNode + 1),
			Bottom:    1 + rand.IntN(idtype.TraceMaxBottom),
		}.ID()
	},
	"eightbyte": func() (fmt.Stringer,
		error,
	) {
		return idtype.EightByteFromUint64(1 + rand.Uint64()>>rand.IntN(64)), nil
	},
	"short": func() (fmt.Stringer,
		error,
	) {
		return idtype.ShortID(1 + rand.Int64N(1<<60-1)>>rand.IntN(60)), nil
	},
	"sno": func() (fmt.Stringer, error) {
		return idtype.SnoParts{
			UnixMs:   idtype.SnoEpoch + rand.Int64N(idtype.SnoMaxUnixMs-idtype.SnoEpoch),
			TickTock: rand.IntN(2), Meta: rand.IntN(256),
			Partition: rand.IntN(65536), Sequence: 1 + rand.IntN(65535),
		}.ID()
	},
	"sequence": func() (fmt.Stringer,
		error,
	) {
		return idtype.SequenceID(1 + rand.Int64()>>rand.IntN(63)), nil
	},
}

// What inspect writes compose reads, for random IDs of every scheme.
func TestRoundTrip(t *testing.T) {
	s := inside(t)
	for scheme, random := range randomTexts {
		var ids strings.Builder
		for range 1000 {
			id, err := random()
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintln(&ids, id)
		}
		inspected := s.feed(ids.String(), "inspect", "--json", "--scheme", scheme)
		back := s.feed(inspected.stdout, "compose", "--scheme", scheme)
		if back.stdout != ids.String() || inspected.stderr+back.stderr != "" {
			t.Errorf("%s: what came back differs: %v, %v", scheme, inspected, back)
		}
	}
}
