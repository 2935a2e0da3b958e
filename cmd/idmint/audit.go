package main

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/cmd/idmint/internal/pool"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/checks"
)

// An audit compares the keys of columns with the launch log.
type audit struct {
	examination // its flags name the launch log
	db          *sql.DB
	kind        dsn.Kind
	log         *launchlog.Log
	others      []*launchlog.Log // of other regions, with other digits
	scheme      idtype.Scheme
	steps       []auditStep
}

// An auditStep is a query about the keys of a column, or of two columns.
type auditStep struct {
	name, query string
	judge       func(context.Context, *sql.Rows) (auditJudge, error) // made at the first row
}

// An auditJudge reads a row. It sets f.Check if the keys are a finding, and returns their launch or
// number.
type auditJudge func(f *auditFinding) (of string, err error)

// An auditFinding is the result of a check for all keys of a column that share it.
type auditFinding struct {
	checks.Result
	Column string `json:"column"` // or two, separated by a comma
	Keys   int64  `json:"keys"`
	First  string `json:"first"`
	Last   string `json:"last"`

	of map[string]bool // launches or numbers
}

func (a *app) auditCommand() *cobra.Command {
	var flags storeFlags
	var logName databaseFlag
	var scheme, layout string
	var others []string
	c := &cobra.Command{
		Use:   "audit TABLE.COLUMN… --db DSN",
		Short: "Compare the keys of tables with the launch log",
		Long: `Compare the keys of tables with the launch log, and report those that the log
cannot have handed out. Run it after a restore, a clone or an import. It changes
nothing.

A decimal key is a finding if the log does not have its launch, if nobody took
its generator number, or if it is a test ID. A key of short, snowflake, sno or
eightbyte is a finding if its time is after those that the log has handed out for
its number, in the counters that idmint names itself. For trace only the node is
compared, because times of trace IDs repeat. For all schemes, a value that is not
an ID is a finding, and so is a key that is in two of the columns. Therefore name
only columns that are primary keys.

Keys that the log can never hand out again, because the launch has ended or
idmint advance passed them, are notes. The exit status is 1 if there are
findings. It is also 1 if the comparison could not be made, and standard output
is empty then. With --json each result is an object, whose code "check" stays the
same from release to release.

If regions with separate launch logs share a key space, name the other logs by
--also. Digits that two logs have handed out are an error.

A TABLE can be SCHEMA.TABLE, in PostgreSQL, MySQL, MariaDB and SQLite. --log must
name the primary server, because a standby may be behind. Each column is read by
one statement, which blocks writers in SQLite unless the file is in WAL mode.`,
		Example: "  idmint import zones.tsv --db sqlite:app.db --table zones\n" +
			"  idmint audit zones.id --db sqlite:app.db",
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			target, err := flags.name.parse()
			if err != nil {
				return err
			}
			u := audit{
				examination: examination{app: a, flags: flags, count: map[checks.Level]int{}},
				kind:        target.Kind, scheme: idtype.Scheme(scheme),
			}
			if logName.isGiven() {
				u.flags.name = logName
			}
			u.flags.reading = true
			if _, err := u.flags.launchLog(); err != nil {
				return err
			}
			if _, err := schemeNamed(scheme); err != nil || u.scheme == idtype.SchemeSequence {
				return usage("--scheme %q: must be "+auditedSchemes, scheme)
			}
			if layout == "" && u.scheme == idtype.SchemeSnowflake {
				layout = "twitter"
			}
			if _, err := schemeIn(scheme, layout); err != nil {
				return err
			}
			if err := u.parse(args); err != nil {
				return err
			}
			ctx, cancel := interruptible(c)
			defer cancel()
			if u.db, err = flags.reach(ctx, target); err != nil {
				return err
			}
			defer u.db.Close()
			var done func()
			if u.log, done, err = u.flags.open(ctx, a); err != nil {
				return err
			}
			defer done()
			for _, name := range others {
				other := u.flags
				other.name = databaseFlag{flag: "also", text: name, given: true}
				log, done, err := other.open(ctx, a)
				if err != nil {
					return err
				}
				defer done()
				u.others = append(u.others, log)
			}
			return u.run(ctx)
		},
	}
	flags.add(c)
	logName.add(c, "log", logVariable,
		"the database of the launch log, if it is not in --db (default $"+logVariable+")")
	c.Flags().StringArrayVar(&others, "also", nil,
		"the launch log of another region, with other digits (may be repeated)")
	c.Flags().StringVar(&scheme, "scheme", string(idtype.SchemeDecimal),
		"the scheme of the keys: "+auditedSchemes)
	addLayout(c, &layout)
	return c
}

// auditedSchemes are the schemes whose keys a log can have handed out.
const auditedSchemes = "decimal, trace, eightbyte, short, sno or snowflake"

// parse plans the steps: one for each column, and one for each pair of columns.
func (u *audit) parse(args []string) error {
	var froms []string
	for i, arg := range args {
		parts := strings.Split(arg, ".")
		if n := len(parts); n < 2 || n > 3 || slices.Contains(parts, "") {
			return usage("%q: must be TABLE.COLUMN or SCHEMA.TABLE.COLUMN", arg)
		}
		if slices.Contains(args[:i], arg) {
			return usage("%q is named twice", arg)
		}
		for i, part := range parts {
			parts[i] = u.kind.Quote(part)
		}
		// Without a table before it, SQLite reads a quoted name that it does not know as a string.
		column := strings.Join(parts, ".")
		from := fmt.Sprintf(" FROM %s WHERE %s ", strings.Join(parts[:len(parts)-1], "."), column)
		u.steps = append(u.steps, u.step(arg, column, from+"IS NOT NULL"))
		for j, other := range froms {
			u.steps = append(u.steps, auditStep{
				args[j] + ", " + arg, other + "IN (SELECT " + column + from + "IS NOT NULL)",
				u.judgeTwice,
			})
		}
		froms = append(froms, "SELECT "+column+from)
	}
	return nil
}

// run writes its findings at the end, so that standard output is empty unless every step was made.
func (u *audit) run(ctx context.Context) error {
	var keys int64
	var all []*auditFinding
	for _, step := range u.steps {
		var found []*auditFinding
		var n int64
		if err := pool.Retry(ctx, u.flags.wait, func() (err error) {
			found, n, err = u.compare(ctx, step)
			return err
		}); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		all, keys = append(all, found...), keys+n
	}
	slices.SortFunc(all, func(a, b *auditFinding) int {
		return cmp.Or(cmp.Compare(a.Column, b.Column), cmp.Compare(a.Check, b.Check),
			cmp.Compare(a.Level, b.Level))
	})
	for _, f := range all {
		f.Result = checks.New(f.Check, f.Level, "%s: %s, %s to %s, %s%s", f.Column,
			plural(int(f.Keys), "key"), f.First, f.Last, auditWords[f.Check],
			few(slices.SortedFunc(maps.Keys(f.of), byNumber)))
		if err := u.tellAs(f.Result, f); err != nil {
			return err
		}
	}
	if u.json {
		return nil
	}
	return u.out.printf("%s: %s, %s\n", plural(int(keys), "key"),
		plural(u.count[checks.Note], "note"), plural(u.count[checks.Finding], "finding"))
}

// compare runs a step, and returns its findings and how many keys the column holds.
func (u *audit) compare(
	ctx context.Context, step auditStep,
) (found []*auditFinding, keys int64, err error) {
	rows, err := u.db.QueryContext(ctx, step.query)
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	var judge auditJudge
	for rows.Next() {
		if judge == nil {
			// It reads the log only now, because the statement sees no row that is newer.
			if judge, err = step.judge(ctx, rows); err != nil {
				return nil, 0, err
			}
		}
		f := auditFinding{Column: step.name}
		f.Level = checks.Finding
		of, err := judge(&f)
		if err != nil {
			return nil, 0, err
		}
		if f.Check != "audit.twice" {
			keys += f.Keys
		}
		i := slices.IndexFunc(found, func(o *auditFinding) bool {
			return o.Check == f.Check && o.Level == f.Level
		})
		switch {
		case f.Check == "":
		case i < 0:
			f.of = map[string]bool{of: true}
			found = append(found, &f)
		default:
			o := found[i]
			o.of[of] = true
			o.Keys += f.Keys
			o.First = slices.MinFunc([]string{o.First, f.First}, byNumber)
			o.Last = slices.MaxFunc([]string{o.Last, f.Last}, byNumber)
		}
	}
	return found, keys, rows.Err()
}

// byNumber orders IDs by their texts, which are digits or all of the same length.
func byNumber(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }

// auditWords describe, for each check, the keys that the log cannot have handed out.
var auditWords = map[string]string{
	"audit.id":        "are not IDs of the scheme",
	"audit.test":      "are test IDs, of launch ",
	"audit.launch":    "are of launches that the log does not have: ",
	"audit.generator": "have generator numbers that nobody took, of launch ",
	"audit.number":    "have numbers that the log never lent: ",
	"audit.time":      "have times that the log did not hand out, for ",
	"audit.twice":     "are in both columns",
}
