package cassandra

import (
	"crypto/rand"
	"fmt"
	"testing"
	"time"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/kv"
	"github.com/idmint/idmint/launchlog/storetest"
)

// BenchmarkBesideBare measures steps in turn with a bare lightweight transaction on the same
// cluster, which updates one row. The ratio is between the two.
func BenchmarkBesideBare(b *testing.B) {
	config := prepared(b)
	e := client(b, config)
	l, err := launchlog.New(kv.New(e, nil), nil)
	if err != nil {
		b.Fatal(err)
	}
	if _, err = l.Start(b.Context(), storetest.Request("first")); err != nil {
		b.Fatal(err)
	}
	counter, err := l.Counter("orders")
	if err != nil {
		b.Fatal(err)
	}
	for step, do := range map[string]func(version int64) error{
		"commit": func(version int64) error {
			done, err := e.Commit(b.Context(), "p", kv.Change{
				Name: "row", Version: version, Value: []byte("value"),
			})
			if err == nil && !done {
				err = fmt.Errorf("version %d was not made", version+1)
			}
			return err
		},
		"start": func(int64) error {
			_, err := l.Start(b.Context(), storetest.Request(rand.Text()))
			return err
		},
		"claim": func(int64) error {
			_, err := l.Claim(b.Context(), 1)
			return err
		},
		"reserve": func(int64) error {
			_, err := counter.Reserve(b.Context(), 0, 100)
			return err
		},
	} {
		b.Run(step, func(b *testing.B) { besideBare(b, e, config.table(e.rows), do) })
	}
}

var places int64

func besideBare(b *testing.B, e *engine, table string, do func(version int64) error) {
	places++
	part := fmt.Sprint("bare", places)
	text := `UPDATE ` + table + ` SET value = ?, version = ? WHERE part = ? AND name = ?
		IF version = ?`
	bareStep := func(version int64) error {
		var was *int64
		if version > 0 {
			was = &version
		}
		applied, err := e.session.Query(text, []byte("value"), version+1, part, "row", was).
			Consistency(e.levels.quorum).SerialConsistency(e.levels.serial).
			MapScanCASContext(e.hosts.begin(b.Context(), part), map[string]any{})
		if err == nil && !applied {
			err = fmt.Errorf("version %d was not made", version+1)
		}
		return err
	}
	var ours, bare time.Duration
	version := int64(0)
	for b.Loop() {
		start := time.Now()
		if err := bareStep(version); err != nil {
			b.Fatal(err)
		}
		middle := time.Now()
		if err := do(version); err != nil {
			b.Fatal(err)
		}
		bare += middle.Sub(start)
		ours += time.Since(middle)
		version++
	}
	b.ReportMetric(ours.Seconds()/float64(version)*1e3, "ms/step")
	b.ReportMetric(bare.Seconds()/float64(version)*1e3, "ms/bare")
	b.ReportMetric(ours.Seconds()/bare.Seconds(), "x-bare")
}
