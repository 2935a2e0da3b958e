package idmint_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/idmint/idmint/"

// A fence says what packages, and all that they import in turn, keep away from.
type fence struct {
	packages []string // within the module, without its name
	away     []string // prefixes of import paths; "" is everything but the standard library
	but      []string // exceptions
	why      string
}

// drivers are those that the stores import, each store its own.
var drivers = map[string]string{
	"launchlog/sqlite": "github.com/mattn", "launchlog/postgres": "github.com/jackc",
	"launchlog/mysql": "github.com/go-sql-driver", "launchlog/etcd": "go.etcd.io",
	"launchlog/zookeeper": "github.com/go-zookeeper",
	"launchlog/cassandra": "github.com/apache",
}

// driversBut are the drivers of all stores but one.
func driversBut(store string) []string {
	var others []string
	for of, driver := range drivers {
		if of != store {
			others = append(others, driver)
		}
	}
	return others
}

// libraries are the packages that users import, with what those import of the module.
var libraries = fence{
	[]string{
		"idtype", "idtype/formats", "scramble", "publicid", "generator", "launchlog",
		"launchlog/checks", "launchlog/memory", "launchlog/sqlite",
		"launchlog/postgres", "launchlog/mysql", "launchlog/etcd", "launchlog/zookeeper",
		"launchlog/cassandra", "launchlog/etcd/etcddoctor", "launchlog/zookeeper/zookeeperdoctor",
		"launchlog/cassandra/cassandradoctor", "internal/named",
		"launchlog/internal/detail",
		"launchlog/internal/rows", "launchlog/internal/kv", "migrations", "claims", "doctor",
		"sqlid", "sqlid/functions", "sqlid/pgxid", "gormid", "gormid/gormidtest", "bunid", "entid",
		"clickhouse", "cqlid",
		"telemetry", "telemetry/otelid", "telemetry/promid", "viewer",
	},
	[]string{
		"testing", "github.com/spf13", "github.com/schollz", "github.com/testcontainers",
		"gonum.org",
	},
	nil,
	"libraries contain neither test code nor parts of the command line",
}

// ofStores is what the launch log's stores import of the module.
var ofStores = []string{
	module + "launchlog", module + "internal/named", module + "launchlog/internal/detail",
	module + "launchlog/internal/rows", module + "launchlog/internal/kv", module + "internal/dialect",
}

var fences = []fence{
	{
		[]string{"idtype"},
		[]string{""},
		[]string{module + "idtype/formats"},
		"an app that imports the types compiles nothing else",
	},
	{
		[]string{"idtype/formats"},
		[]string{""},
		nil,
		"layouts are numbers",
	},
	{
		[]string{"scramble"},
		[]string{""},
		nil,
		"permutations work on plain numbers",
	},
	{
		[]string{"publicid"},
		[]string{""},
		[]string{module + "idtype", module + "scramble"},
		"showing an ID takes its type and a permutation, but no database",
	},
	{
		[]string{"generator"},
		[]string{""},
		[]string{module + "idtype"},
		"a generator takes its numbers through an interface: the caller wires it to a launch log",
	},
	{
		[]string{"launchlog", "launchlog/memory"},
		[]string{""},
		[]string{
			module + "launchlog", module + "internal/named", module + "internal/dialect",
			module + "launchlog/internal/detail",
		},
		"a launch log needs no ID types, and only its store's driver",
	},
	{
		[]string{"launchlog/checks"},
		[]string{""},
		nil,
		"results of checks are plain text, which stores and pages share",
	},
	{
		[]string{"claims"},
		[]string{""},
		[]string{
			module + "launchlog", module + "internal/named", module + "internal/dialect",
			module + "generator", module + "idtype",
		},
		"claims connect a launch log to generators, whatever the driver",
	},
	{
		[]string{"doctor"},
		[]string{""},
		[]string{
			module + "launchlog", module + "internal/named", module + "internal/dialect",
			module + "launchlog/checks", module + "migrations", module + "claims",
			module + "generator", module + "idtype",
		},
		"checks use the log and the pool that they are given, whatever the driver",
	},
	{
		[]string{"telemetry"},
		[]string{""},
		[]string{
			module + "launchlog", module + "internal/named", module + "internal/dialect",
			module + "migrations", module + "claims",
			module + "generator", module + "idtype", module + "doctor", module + "launchlog/checks",
		},
		"metrics are read from the caller's objects, whatever the driver, and published by " +
			"other packages",
	},
	{
		[]string{"viewer"},
		[]string{""},
		[]string{
			module + "launchlog", module + "internal/named", module + "internal/dialect",
			module + "migrations", module + "claims",
			module + "generator", module + "idtype", module + "doctor", module + "launchlog/checks",
			module + "internal/schemes", module + "internal/visible",
		},
		"the pages are part of an app: they use its log, and bring no web framework",
	},
	{
		[]string{"internal/schemes"},
		[]string{""},
		[]string{module + "idtype"},
		"the type of a scheme describes it",
	},
	{
		[]string{"telemetry/otelid"},
		append(driversBut(""), "gorm.io", "github.com/prometheus", "go.opentelemetry.io/otel/sdk",
			"go.opentelemetry.io/otel/exporters"),
		nil,
		"an app brings its own SDK, and no Prometheus",
	},
	{
		[]string{"telemetry/promid"},
		append(driversBut(""), "gorm.io", "go.opentelemetry.io"),
		nil,
		"an app with Prometheus needs no OpenTelemetry",
	},
	{
		[]string{"launchlog/internal/rows"},
		[]string{""},
		[]string{
			module + "launchlog", module + "internal/named", module + "internal/dialect",
			module + "launchlog/internal/detail",
		},
		"code that the stores share must not depend on a driver",
	},
	{
		[]string{"launchlog/internal/kv"},
		[]string{""},
		[]string{
			module + "launchlog", module + "internal/named", module + "internal/dialect",
			module + "launchlog/internal/detail",
		},
		"the store over key-value engines must not depend on one of them",
	},
	{
		[]string{"launchlog/internal/detail"},
		[]string{""},
		[]string{
			module + "launchlog", module + "internal/named", module + "internal/dialect",
		},
		"all stores format the details of events with it",
	},
	{
		[]string{"internal/named"},
		[]string{""},
		nil,
		"the launch log and its stores all name their errors with it",
	},
	{
		[]string{"launchlog/sqlite"},
		append(driversBut("launchlog/sqlite"), module, "gorm.io"),
		append([]string{module + "migrations"}, ofStores...),
		"OpenOrCreate applies the migrations of all dialects with SQLite's driver only",
	},
	{
		[]string{"launchlog/postgres"},
		append(driversBut("launchlog/postgres"), module, "gorm.io"),
		ofStores,
		"opening a log must not migrate it, and needs only that log's driver",
	},
	{
		[]string{"launchlog/mysql"},
		append(driversBut("launchlog/mysql"), module, "gorm.io"),
		ofStores,
		"opening a log must not migrate it, and needs only that log's driver",
	},
	{
		[]string{"launchlog/etcd"},
		append(driversBut("launchlog/etcd"), module, "gorm.io", "database/sql"),
		ofStores,
		"a separate module keeps its driver out of every other app's go.sum, and needs no SQL",
	},
	{
		[]string{"launchlog/zookeeper"},
		append(driversBut("launchlog/zookeeper"), module, "gorm.io", "database/sql"),
		ofStores,
		"a separate module keeps its driver out of every other app's go.sum, and needs no SQL",
	},
	{
		[]string{"launchlog/cassandra"},
		append(driversBut("launchlog/cassandra"), module, "gorm.io", "database/sql"),
		ofStores,
		"a separate module keeps its driver out of every other app's go.sum, and needs no SQL",
	},
	{
		[]string{
			"launchlog/etcd/etcddoctor", "launchlog/zookeeper/zookeeperdoctor",
			"launchlog/cassandra/cassandradoctor",
		},
		[]string{"gorm.io", "github.com/mattn", "github.com/jackc", "github.com/go-sql-driver"},
		nil,
		"checking such a store requires no SQL driver",
	},
	{
		[]string{"migrations"},
		append(driversBut(""), module, "gorm.io"),
		[]string{module + "internal/dialect", module + "internal/named"},
		"migrations run on the database that they are given, whatever the driver",
	},
	{
		[]string{"sqlid", "sqlid/functions"},
		append(driversBut(""), module, "gorm.io"),
		[]string{module + "idtype", module + "internal/dialect", module + "internal/schemes"},
		"adapters do not import each other, nor a driver",
	},
	{
		[]string{"sqlid/pgxid"},
		[]string{
			module, "gorm.io", "github.com/mattn", "github.com/jackc/pgx/v5/pgxpool",
			"github.com/jackc/pgx/v5/stdlib",
		},
		[]string{
			module + "idtype", module + "internal/dialect", module + "internal/keys",
			module + "internal/schemes",
		},
		"an app with a single connection compiles no pool, and the import registers no " +
			"database/sql driver",
	},
	{
		[]string{"gormid", "gormid/gormidtest"},
		[]string{module, "gorm.io/driver", "github.com/mattn"},
		[]string{
			module + "idtype", module + "internal/dialect", module + "internal/keys",
			module + "internal/schemes", module + "gormid",
		},
		"adapters do not import each other, nor a driver",
	},
	{
		[]string{"bunid"},
		append(driversBut(""), module, "gorm.io", "github.com/uptrace/bun/d"),
		[]string{
			module + "idtype", module + "internal/dialect", module + "internal/keys",
			module + "internal/schemes", "github.com/uptrace/bun/dialect", "github.com/uptrace/bun/dialect/feature",
			"github.com/uptrace/bun/dialect/sqltype",
		},
		"adapters do not import each other, nor a driver",
	},
	{
		[]string{"entid"},
		append(driversBut(""), module, "gorm.io", "ariga.io", "entgo.io/ent/entc"),
		[]string{
			module + "idtype", module + "internal/dialect", module + "internal/keys",
			module + "internal/schemes",
		},
		"adapters do not import each other, nor a driver",
	},
	{
		[]string{"cqlid"},
		append(driversBut("launchlog/cassandra"), module, "gorm.io"),
		[]string{module + "idtype"},
		"adapters do not import each other, nor a driver",
	},
	{
		[]string{"clickhouse"},
		[]string{module, "github.com/ClickHouse", "gorm.io"},
		[]string{
			module + "idtype", module + "internal/dialect", module + "internal/keys",
			module + "internal/schemes", "github.com/ClickHouse/ch-go/proto",
			"github.com/ClickHouse/ch-go/compress",
		},
		"an app with one of the two clients does not compile the other, and both contain the " +
			"column types",
	},
	libraries,
	{
		[]string{"cmd/idmint/dsn", "cmd/idmint/internal/pool", "cmd/idmint/internal/importer"},
		[]string{
			"testing", "github.com/testcontainers", "github.com/spf13", "github.com/schollz",
			"gorm.io",
		},
		nil,
		"importing files requires no test code, terminal or ORM",
	},
	{
		[]string{"internal/nilable"},
		[]string{""},
		nil,
		"every package that accepts a source or a store rejects nil with it",
	},
	{
		[]string{"internal/dialect"},
		[]string{""},
		nil,
		"describing a dialect compiles no driver, and no other package of the module",
	},
	{
		[]string{"cmd/idmint/dsn"},
		[]string{module, "github.com/mattn"},
		[]string{module + "internal/dialect"},
		"a DSN can be parsed without the driver of its database",
	},
}

// unfenced are the packages that no user imports.
var unfenced = []string{
	"internal/", "cmd/", "examples/", "integration_test", "idminttest", "launchlog/storetest",
	"launchlog/internal/kv/kvtest", "launchlog/internal/doctorsuite", "sqlid/pgxid/pgxsuite",
}

// notStores are packages right below launchlog that have no driver.
var notStores = map[string]bool{"checks": true, "memory": true}

func TestFences(t *testing.T) {
	args := []string{"-f", `{{.ImportPath}} {{join .Deps " "}}`}
	asked := map[string]bool{}
	for _, f := range fences {
		for _, p := range f.packages {
			switch {
			case asked[p]:
			case isOtherModule(p) && os.Getenv("GOWORK") == "off":
				t.Logf("%s is of another module, which go.work joins", p)
			default:
				args = append(args, "./"+p)
			}
			asked[p] = true
		}
	}
	imports := map[string][]string{}
	for _, line := range list(t, args...) {
		p, deps, _ := strings.Cut(line, " ")
		imports[strings.TrimPrefix(p, module)] = strings.Fields(deps)
	}
	if len(imports) != len(args)-2 {
		t.Fatalf("go list knows %d packages of %d", len(imports), len(args)-2)
	}
	for _, f := range fences {
		if f.but != nil && f.packages[0] != "idtype" { // a leaf: it sees nil behind an interface
			f.but = append(slices.Clone(f.but), module+"internal/nilable")
		}
		if slices.Contains(f.but, module+"idtype") { // which has its numbers there
			f.but = append(slices.Clone(f.but), module+"idtype/formats")
		}
		for _, p := range f.packages {
			for _, dep := range imports[p] {
				away := slices.ContainsFunc(f.away, func(prefix string) bool {
					return strings.HasPrefix(dep, prefix) && (prefix != "" || !isStandard(dep))
				})
				if away && !slices.Contains(f.but, dep) {
					t.Errorf("%s imports %s: %s", p, dep, f.why)
				}
			}
		}
	}
}

// isOtherModule reports whether a package is of a module below the root's.
func isOtherModule(name string) bool {
	return slices.ContainsFunc([]string{
		"cmd/", "bunid/", "entid/", "cqlid/", "launchlog/etcd/", "launchlog/zookeeper/", "launchlog/cassandra/",
		"telemetry/otelid/", "telemetry/promid/",
	}, func(module string) bool { return strings.HasPrefix(name+"/", module) })
}

func TestEveryPackageHasAFence(t *testing.T) {
	for _, p := range list(t, "./...") {
		name := strings.TrimPrefix(p, module)
		var around []string // all fences around it
		for _, f := range fences {
			if slices.Contains(f.packages, name) {
				around = append(around, f.why)
			}
		}
		free := slices.ContainsFunc(
			unfenced, func(prefix string) bool { return strings.HasPrefix(name, prefix) },
		)
		if free || p == strings.TrimSuffix(module, "/") {
			continue
		}
		if !slices.Contains(around, libraries.why) || len(around) < 2 {
			t.Errorf("%s needs a place in libraries and a fence of its own: it has %q", p, around)
		}
		inLog, isInLog := strings.CutPrefix(name, "launchlog/")
		if isInLog && !strings.Contains(inLog, "/") && !notStores[inLog] && drivers[name] == "" {
			t.Errorf("%s is a store, and drivers does not name what it imports", p)
		}
	}
}

// docs/explain/architecture.md says why each fence stands.
func TestFencesAreExplained(t *testing.T) {
	page, err := os.ReadFile("docs/explain/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range fences {
		if !strings.Contains(string(page), "| "+f.why+" |\n") {
			t.Errorf(
				"docs/explain/architecture.md does not say of the fence around %s: %s", f.packages, f.why,
			)
		}
	}
}

// list is what go list says, by lines.
func list(t *testing.T, args ...string) []string {
	t.Helper()
	out, err := exec.Command("go", append([]string{"list"}, args...)...).Output()
	if err != nil {
		t.Fatalf("go list %v: %v", args, err)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// isStandard: the first element of other paths is a domain.
func isStandard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}
