package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

const (
	// quiet is how many processors two goroutines that share nothing get on a machine that does
	// nothing else.
	quiet = 1.9
	// enough rounds give a median an interval of confidence.
	enough = 6
)

// page writes all of it, or returns an error for a run that lacks something.
func page(w io.Writer, r *results, targets []target) error {
	for _, section := range []func(*results) (string, error){
		head,
		func(r *results) (string, error) { return targetSection(r, targets) },
		peerSection, repeatSection, capSection, storeSection, figureSection,
	} {
		text, err := section(r)
		if err != nil {
			return err
		}
		if _, err := io.WriteString(w, text); err != nil {
			return err
		}
	}
	return nil
}

// processorsGot are how many processors two goroutines that share nothing got, in each round.
func processorsGot(r *results) ([]float64, error) {
	alone := figure{"Floor/increment", true, "cpu-ns/op"}
	return r.ratios(alone, alone.in("ns/op"))
}

func head(r *results) (string, error) {
	got, err := processorsGot(r)
	if err != nil {
		return "", err
	}
	processors := median(got).Center
	c := r.config
	peers := strings.TrimRight(strings.ReplaceAll(c["peers"], "github.com/", ""), ", ")
	if peers == "" {
		return "", errors.New("the run names no peers")
	}
	text := fmt.Sprintf(`# Speed

Written by `+"`make bench`"+` on %s: not to be edited. %d rounds on %s processors (%s, %s/%s) with %s.
Beside: %s.

A figure is the median of the rounds, and ± is its interval of confidence at 95 %%. A ratio is the
median of the ratios within each round. Absolute figures are those of this machine. Ratios travel
better. Serial is GOMAXPROCS=1. Parallel is two goroutines on two processors, and time is per ID, so
perfect scaling halves it. Two goroutines that share nothing got %.2f processors.
`, c["date"], len(got), c["processors"], c["cpu"], c["goos"], c["goarch"], c["go"],
		peers, processors)
	if len(got) < enough {
		text += fmt.Sprintf(
			"\n**Not a measurement**: fewer than %d rounds show that the benchmarks work, and no more.\n", enough)
	}
	if processors < quiet {
		text += fmt.Sprintf(
			"\n**Not a quiet machine**: less than %.1f processors. Parallel figures, and ratios of them, say little.\n", quiet)
	}
	return text, nil
}

func targetSection(r *results, targets []target) (string, error) {
	var rows, missed strings.Builder
	met := 0
	for _, t := range targets {
		ours, err := r.series(t.ours)
		if err != nil {
			return "", err
		}
		value, against, ratio, bound := median(ours).Center, "", "", t.bound.String()
		if t.peer != "" {
			theirs, err := r.series(t.against)
			if err != nil {
				return "", err
			}
			ratios, err := r.ratios(t.ours, t.against)
			if err != nil {
				return "", err
			}
			against = t.peer + ", " + amount(median(theirs).Center, t.against.unit)
			s := median(ratios)
			ratio = fmt.Sprintf("%.2f ± %s", s.Center, s.PctRangeString())
			if t.ratio {
				value = s.Center
			}
		}
		if t.ratio {
			bound += " × " + t.peer
		} else {
			bound += " " + units[t.ours.unit]
		}
		verdict := "met"
		if t.bound.holds(value) {
			met++
		} else {
			verdict = "**missed**"
			fmt.Fprintf(&missed, "- %s, %s: %s\n", t.what, strings.TrimSpace(bound),
				orUnknown(t.reason))
		}
		fmt.Fprintf(&rows, "| %s | %s | %s | %s | %s | %s |\n",
			t.what, amount(median(ours).Center, t.ours.unit), against, ratio,
			strings.TrimSpace(bound), verdict)
	}
	text := fmt.Sprintf(
		"\n## Targets\n\n%d of %d are met.\n\n| what | ours | beside | ratio | target | |\n|---|---|---|---|---|---|\n%s",
		met, len(targets), rows.String())
	if missed.Len() > 0 {
		text += "\nMissed:\n\n" + missed.String()
	}
	return text + dropped, nil
}

func orUnknown(reason string) string {
	if reason == "" {
		return "the reason is not known yet."
	}
	return reason
}

// units are as a reader wants them.
var units = map[string]string{
	"ns/op": "ns", "cpu-ns/op": "ns", "%cap": "%", "%core": "%", "allocs/op": "",
	"worst-ms": "ms", "fewest/most": "",
}

func amount(v float64, unit string) string {
	digits := 1
	switch {
	case v == 0 || v >= 1000 || unit == "allocs/op":
		digits = 0
	case v < 10:
		digits = 2
	}
	return strings.TrimSpace(fmt.Sprintf("%.*f %s", digits, v, units[unit]))
}

// peers are the forms of other libraries in which they are fastest, and waits at a cap are not
// counted.
var peers = []struct{ label, name string }{
	{"snowflake, 20 step bits", "snowflake-20-step-bits"},
	{"xid", "xid"},
	{"muyo/sno", "muyo-sno-below-cap"},
	{"UUIDv7, google/uuid, pooled", "google-uuid7-pooled"},
	{"UUIDv7, gofrs", "gofrs-uuid7"},
	{"ulid", "ulid"},
}

// peerSection compares one ID of ours with one of others.
func peerSection(r *results) (string, error) {
	text := "\n## One ID beside others\n\nOur time by theirs, of the same round. Below 1 ours is faster. " +
		"Others are called as their\ndocumentation shows, UUIDv7 of google/uuid with its pool. No generator is at its cap.\n\n| one goroutine |"
	for _, p := range peers {
		text += " " + p.label + " |"
	}
	text += "\n|---|" + strings.Repeat("---|", len(peers)) + "\n"
	for _, name := range r.under("Mint/") {
		scheme, ok := strings.CutSuffix(strings.TrimPrefix(name, "Mint/"), "/shared")
		if !ok {
			continue
		}
		text += "| " + scheme + " |"
		for _, p := range peers {
			ratios, err := r.ratios(serial(name), serial("Peer/"+p.name))
			if err != nil {
				return "", err
			}
			s := median(ratios)
			text += fmt.Sprintf(" %.2f ± %s |", s.Center, s.PctRangeString())
		}
		text += "\n"
	}
	return text, nil
}

func repeatSection(r *results) (string, error) {
	const prefix = "Repeats/ours/"
	var rows strings.Builder
	for _, name := range r.under(prefix) {
		_, goroutines, _ := strings.Cut(name, "=")
		ours, err := r.series(figure{name, true, "repeats"})
		if err != nil {
			return "", err
		}
		theirs, err := r.series(figure{"Repeats/muyo-sno/" + strings.TrimPrefix(name, prefix), true, "repeats"})
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&rows, "| %s | %s | %s |\n", goroutines, counts(ours), counts(theirs))
	}
	if rows.Len() == 0 {
		return "", fmt.Errorf("the run has no %s…", prefix)
	}
	return "\n## Repeats\n\nRepeated IDs among 16,777,216 of one sno generator that goroutines share, in each run.\n\n" +
		"| goroutines | ours | muyo/sno |\n|---|---|---|\n" + rows.String(), nil
}

func counts(values []float64) string {
	var s []string
	for _, v := range values {
		s = append(s, fmt.Sprintf("%.0f", v))
	}
	return strings.Join(s, ", ")
}

func capSection(r *results) (string, error) {
	var rows strings.Builder
	for _, name := range r.under("Cap/") {
		fmt.Fprintf(&rows, "| %s |", strings.TrimPrefix(name, "Cap/"))
		for _, parallel := range []bool{false, true} {
			for _, unit := range []string{"ns/op", "%cap", "%core"} {
				v, err := r.series(figure{name, parallel, unit})
				if err != nil {
					return "", err
				}
				fmt.Fprintf(&rows, " %s |", amount(median(v).Center, unit))
			}
		}
		rows.WriteString("\n")
	}
	return "\n## At the cap\n\nOne caller, and then eight, ask one generator for all that it has. The table has time per ID, share of\n" +
		"the cap, and time of a processor while calls wait.\n\n" +
		"| | 1 caller | of the cap | a processor | 8 callers | of the cap | a processor |\n|---|---|---|---|---|---|---|\n" + rows.String(), nil
}

const oneCaller = "launchlog/Postgres/OneCaller/"

// storeSection is what databases take part in. A run that reached none has no such section.
func storeSection(r *results) (string, error) {
	var text string
	rows := func(title, head string, names []string,
		cells ...func(name string) (string, error),
	) error {
		if len(names) == 0 {
			return nil
		}
		text += fmt.Sprintf("\n%s\n\n| %s |\n|%s\n", title, head,
			strings.Repeat("---|", len(cells)+1))
		for _, name := range names {
			_, label, _ := strings.Cut(name, "/")
			text += "| " + label + " |"
			for _, cell := range cells {
				s, err := cell(name)
				if err != nil {
					return err
				}
				text += " " + s + " |"
			}
			text += "\n"
		}
		return nil
	}
	value := func(format, unit string, of func(float64) float64) func(string) (string, error) {
		return func(name string) (string, error) {
			v, err := r.series(figure{name, true, unit})
			if err != nil {
				return "", err
			}
			return fmt.Sprintf(format, of(median(v).Center)), nil
		}
	}
	same := func(v float64) float64 { return v }
	crowds := slices.DeleteFunc(r.under("launchlog/"), func(name string) bool {
		return strings.HasPrefix(name, oneCaller)
	})
	err := rows("GORM's CreateInBatches: rows whose IDs were set by hand, and beside them the plugin, turn by turn.",
		"| by hand, per row | with the plugin, ratio", r.under("gormid/"),
		value("%.0f ns", "ns/row-by-hand", same), value("%.2f", "ratio", same))
	if err != nil {
		return "", err
	}
	err = rows("The launch log, on disk before it is answered: launches and claims that 16 callers get together,\n"+
		"and ranges of a counter that eight get.", "| a second", crowds,
		value("%.0f", "ns/op", func(ns float64) float64 { return 1e9 / ns }))
	if err != nil {
		return "", err
	}
	err = rows("One caller in PostgreSQL, turn by turn: an `UPDATE … RETURNING` of one row, and a claim, as durable.\n"+
		"The ratio is the first time by the second: 0.7 is the target, and below it is missed. The mode exec is\n"+
		"that of `postgres.Open`, for poolers: nothing is prepared, so the server plans a claim anew each time.\n"+
		"The mode cache_statement is pgx's own, and so that of the pool that `postgres.New` gets.",
		"| the UPDATE, µs | the claim, µs | ratio; ≥ 0.7 is the target", r.under(oneCaller),
		value("%.0f", "floor-µs", same), value("%.0f", "claim-µs", same), value("%.2f", "ratio", same))
	if err != nil || text == "" {
		return "", err
	}
	return "\n## In databases\n" + text, nil
}

func figureSection(r *results) (string, error) {
	var b strings.Builder
	b.WriteString("\n## All figures\n\nPer ID. Processor time is that of the whole process. \"Below cap\" is several generators in turn.\n")
	for _, group := range []struct{ prefix, title string }{
		{"Floor/", "What generators are made of"},
		{"Mint/", "One ID of ours, below the caps"},
		{"Peer/", "One ID of others"},
		{"Encode/", "To text"},
		{"Decode/", "From text"},
	} {
		names := r.under(group.prefix)
		if len(names) == 0 {
			return "", fmt.Errorf("the run has no %s…", group.prefix)
		}
		fmt.Fprintf(&b, "\n| %s | serial | parallel | processor, serial | processor, parallel | allocations |\n|---|---|---|---|---|---|\n",
			group.title)
		for _, name := range names {
			fmt.Fprintf(&b, "| %s |", strings.TrimPrefix(name, group.prefix))
			for _, f := range []figure{
				serial(name), parallel(name), serial(name).in("cpu-ns/op"),
				parallel(name).in("cpu-ns/op"), serial(name).in("allocs/op"),
			} {
				v, err := r.series(f)
				if err != nil {
					return "", err
				}
				s := median(v)
				fmt.Fprintf(&b, " %s", amount(s.Center, f.unit))
				if f.unit == "ns/op" {
					b.WriteString(" ± " + s.PctRangeString())
				}
				b.WriteString(" |")
			}
			b.WriteString("\n")
		}
	}
	return b.String(), nil
}
