package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
)

// A figure is what a benchmark measures: its name without "Benchmark" and the number of processors,
// and a unit.
type figure struct {
	name     string
	parallel bool
	unit     string
}

func (f figure) String() string {
	if f.parallel {
		return f.name + " in parallel, " + f.unit
	}
	return f.name + ", " + f.unit
}

// results are the measurements of a run.
type results struct {
	names  []string // in the order of the run
	values map[figure][]float64
	config map[string]string
}

// read reads the output of go test.
func read(r io.Reader, name string) (*results, error) {
	res := &results{values: map[figure][]float64{}, config: map[string]string{}}
	in := benchfmt.NewReader(r, name)
	for in.Scan() {
		switch rec := in.Result().(type) {
		case *benchfmt.SyntaxError:
			return nil, rec
		case *benchfmt.Result:
			res.add(rec)
		}
	}
	return res, in.Err()
}

func (r *results) add(rec *benchfmt.Result) {
	base, parts := rec.Name.Parts()
	f := figure{name: storePackage(rec.GetConfig("pkg")) + string(base)}
	for _, p := range parts {
		if p[0] == '-' { // the number of processors, unless it is 1
			f.parallel = true
		} else {
			f.name += string(p)
		}
	}
	if !slices.Contains(r.names, f.name) {
		r.names = append(r.names, f.name)
	}
	for _, c := range rec.Config {
		r.config[c.Key] = string(c.Value)
	}
	for _, v := range rec.Values {
		if v.OrigUnit != "" { // nanoseconds, which the package has converted to seconds
			v.Value, v.Unit = v.OrigValue, v.OrigUnit
		}
		f.unit = v.Unit
		r.values[f] = append(r.values[f], v.Value)
	}
}

// storePackage returns the prefix for the names of benchmarks of other packages than bench.
// Benchmarks that need a server are in the packages gorm and stores of integration_test.
func storePackage(pkg string) string {
	pkg = strings.Replace(pkg, "idmint/integration_test/gorm", "idmint/gormid", 1)
	pkg = strings.Replace(pkg, "idmint/integration_test/stores", "idmint/launchlog", 1)
	for _, module := range []string{"gormid", "launchlog"} {
		if _, name, ok := strings.Cut(pkg, "idmint/"+module); ok {
			return module + name + "/"
		}
	}
	return ""
}

// series returns the measurements of a figure, one per round.
func (r *results) series(f figure) ([]float64, error) {
	v := r.values[f]
	if len(v) == 0 {
		return nil, fmt.Errorf("the run has no %s", f)
	}
	return v, nil
}

// ratios divides two figures within each round.
func (r *results) ratios(a, b figure) ([]float64, error) {
	over, err := r.series(a)
	if err != nil {
		return nil, err
	}
	under, err := r.series(b)
	if err != nil {
		return nil, err
	}
	if len(over) != len(under) {
		return nil, fmt.Errorf("the run has %d of %s, and %d of %s", len(over), a, len(under), b)
	}
	quotients := make([]float64, len(over))
	for i := range over {
		quotients[i] = over[i] / under[i]
	}
	return quotients, nil
}

// median summarizes values as benchstat does.
func median(values []float64) benchmath.Summary {
	// NewSample sorts the values.
	sample := benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds)
	return benchmath.AssumeNothing.Summary(sample, 0.95)
}

// under returns the names that begin with a prefix.
func (r *results) under(prefix string) []string {
	return slices.DeleteFunc(slices.Clone(r.names), func(n string) bool {
		return !strings.HasPrefix(n, prefix)
	})
}
