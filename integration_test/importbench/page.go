package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"
)

// spread is the median of values, and the least and the most of them.
type spread struct{ median, least, most float64 }

func spreadOf(values []float64) spread {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return spread{(sorted[(n-1)/2] + sorted[n/2]) / 2, sorted[0], sorted[n-1]}
}

// ratios are those of each pair.
func ratios(r result, of func(cost) time.Duration) spread {
	var all []float64
	for i := range r.ours {
		all = append(all, float64(of(r.ours[i]))/float64(of(r.native[i])))
	}
	return spreadOf(all)
}

// load is how many processes wanted a processor in the last minute, as Linux says.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "not known"
	}
	minute, _, _ := strings.Cut(string(text), " ")
	return minute
}

// each is the spread of one figure of some costs.
func each(costs []cost, of func(cost) float64) spread {
	var all []float64
	for _, c := range costs {
		all = append(all, of(c))
	}
	return spreadOf(all)
}

func seconds(of func(cost) time.Duration) func(cost) float64 {
	return func(c cost) float64 { return of(c).Seconds() }
}

func mebibytes(c cost) float64 { return float64(c.peak) / (1 << 20) }

// tables writes the results for people.
func (b *bench) tables(ctx context.Context, results []result) string {
	var w strings.Builder
	commit, err := exec.CommandContext(ctx, "git", "describe", "--tags", "--always",
		"--dirty").Output()
	if err != nil {
		commit = []byte("unknown")
	}
	fmt.Fprintf(&w, "Measured on %s, commit %s, on %d processors with %s: %d rows, %d pairs.\n",
		time.Now().UTC().Format(time.DateOnly), strings.TrimSpace(string(commit)),
		runtime.NumCPU(), runtime.Version(), b.rows, b.pairs)
	fmt.Fprintf(&w, "The machine's load was %s before. The ratios are of files of that length. "+
		"Of shorter ones the\nstart of our program is a larger part.\n\n", b.load)
	w.WriteString("| database | beside | processor time | least to most | " +
		"its seconds, client and server | ours | elapsed |\n|---|---|---|---|---|---|---|\n")
	for _, r := range results {
		cpu, wall := ratios(r, cost.cpu), ratios(r, func(c cost) time.Duration { return c.wall })
		native, ours := each(r.native, seconds(cost.cpu)), each(r.ours, seconds(cost.cpu))
		fmt.Fprintf(&w, "| %s | %s | **%.2f** | %.2f–%.2f | %.2f | %.2f, of which client %.2f "+
			"| %.2f |\n", r.name, r.tool, cpu.median, cpu.least, cpu.most, native.median,
			ours.median,
			each(r.ours, seconds(func(c cost) time.Duration { return c.client })).median,
			wall.median)
	}
	if b.growth {
		w.WriteString("\nOur peak memory, MiB:\n\n| rows |")
		for _, r := range results {
			fmt.Fprintf(&w, " %s |", r.name)
		}
		w.WriteString("\n|---|" + strings.Repeat("---|", len(results)) + "\n")
		for i, rows := range sizes {
			fmt.Fprintf(&w, "| %d |", rows)
			for _, r := range results {
				fmt.Fprintf(&w, " %.0f |", mebibytes(r.growth[i]))
			}
			w.WriteString("\n")
		}
	}
	w.WriteString("\nWhat ran:\n\n")
	for _, r := range results {
		fmt.Fprintf(&w, "- %s\n", r.version)
	}
	return w.String()
}

const first, last = "<!-- importbench -->\n", "<!-- end -->\n"

// writePage puts the tables between two comments of a page.
func writePage(path, text string) error {
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(old), first)
	_, after, ended := strings.Cut(rest, last)
	if !found || !ended {
		return fmt.Errorf("%s: want %q and %q after it", path, first, last)
	}
	return os.WriteFile(path, []byte(before+first+text+last+after), 0o644)
}
