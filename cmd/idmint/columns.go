package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idmint/idmint/clickhouse"
	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/dialect"
	"github.com/idmint/idmint/sqlid"
)

// columnDialects are the dialects that the command writes columns for.
var columnDialects = []dsn.Kind{
	dsn.Postgres, dsn.MySQL, dialect.MariaDB, dsn.SQLite, dsn.ClickHouse,
}

// A columnDefinition holds the options of a column.
type columnDefinition struct {
	sqlid.AnyColumn
	key, nullable, indexed, spread bool
}

// in writes the column in a dialect, or reports an option that its database does not have.
func (d columnDefinition) in(k dsn.Kind) (string, error) {
	switch {
	case d.key && d.nullable || d.key && d.indexed || d.nullable && d.indexed:
		return "", usage("--primary-key, --nullable and --indexed exclude each other")
	case k == dsn.ClickHouse && d.Domain != sqlid.Production && d.Domain != sqlid.Positive:
		return "", usage("--domain must be production or positive for clickhouse")
	case k == dsn.ClickHouse:
		return d.inClickHouse(), nil
	case d.indexed || d.spread:
		return "", usage("--indexed and --spread are for clickhouse, not for %s", string(k))
	case d.key:
		return d.PrimaryKey(k)
	case d.nullable:
		return d.Nullable(k)
	}
	return d.NotNull(k)
}

// inClickHouse adds a check to columns that hold an ID in every row. Others may hold zero for no
// ID.
func (d columnDefinition) inClickHouse() string {
	c := clickhouse.AnyColumn{
		Scheme: d.Scheme, Storage: d.Storage, Name: d.Name, Spread: d.spread,
	}
	column := c.NotNull()
	switch {
	case d.key:
		column = c.PrimaryKey()
	case d.indexed:
		column = c.Indexed()
	case d.nullable:
		column = c.Nullable()
	}
	if !d.key && !d.indexed {
		return column.String()
	}
	check := c.CheckProduction()
	if d.Domain == sqlid.Positive {
		check = c.Check()
	}
	return fmt.Sprintf("%v, CONSTRAINT %s CHECK %s", column,
		dsn.ClickHouse.Quote(d.Name+"_is_id"), check)
}

// columnForm returns the form with a name, or the scheme's default without a name.
func columnForm(scheme idtype.Scheme, kind string) (idtype.Storage, error) {
	forms := sqlid.AnyColumn{Scheme: scheme}.Storages()
	if kind == "" {
		return forms[0], nil
	}
	if i := slices.Index(forms, idtype.Storage(kind)); i >= 0 {
		return forms[i], nil
	}
	return "", usage("--kind %q: %s IDs are stored as %s", kind, string(scheme), commas(forms))
}

func (a *app) columnsCommand() *cobra.Command {
	var d columnDefinition
	var kind, domain, layout string
	c := &cobra.Command{
		Use:   "columns DIALECT SCHEME [--name NAME] [--kind KIND] [--primary-key | --nullable]",
		Short: "Print the SQL of a column of IDs",
		Long: `Print a column of IDs as it is written in CREATE TABLE, with a check that keeps
other values out, for migrations in files.

DIALECT is ` + commas(columnDialects) + `.
SCHEME is ` + schemeNames() + `.

The column is NOT NULL unless --primary-key or --nullable is given. Some schemes
have several kinds of columns, the first of which is the default: eightbyte has
bytes and bigint, and sno has bytes, text and uuid. Declare the key in Go with
the same kind: idtype.AsBigint, idtype.AsText or idtype.AsUUID. For --layout of
snowflake IDs, see inspect. The check is limited to the layout's bits.

In SQLite, end a CREATE TABLE that has the primary key with WITHOUT ROWID. In
ClickHouse, --primary-key is for the column that ORDER BY begins with.`,
		Example: `  idmint columns postgres decimal --primary-key
  idmint columns mariadb sno --kind uuid --name event_id --nullable
  idmint columns clickhouse short --indexed`,
		Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			k := dsn.Kind(args[0])
			if !slices.Contains(columnDialects, k) {
				return usage("unknown dialect %q: want %s", args[0], commas(columnDialects))
			}
			s, err := schemeIn(args[1], layout)
			if err != nil {
				return err
			}
			d.Scheme = s.Name()
			if d.Storage, err = columnForm(d.Scheme, kind); err != nil {
				return err
			}
			if layout != "" {
				d.Scheme = idtype.LayoutOf(givenID(0))
			}
			// in the order of sqlid's
			domains := []string{"production", "layout", "positive", "number"}
			d.Domain = sqlid.Domain(slices.Index(domains, domain))
			if d.Domain < 0 {
				return usage("--domain %q: must be one of %s", domain, strings.Join(domains, ", "))
			}
			if d.Name == "" {
				return usage(`--name "": must not be empty`)
			}
			text, err := d.in(k)
			if err != nil {
				return err
			}
			if after := s.Known().Repeats; d.key && after != "" {
				a.warn("warning: %s IDs are the same again after %s. If rows stay for longer, "+
					"make (period, %s) the key: see docs/use/%[1]s.md", d.Scheme, after, d.Name)
			}
			return a.answer(map[string]string{"column": text}, "%s\n", text)
		},
	}
	flags := c.Flags()
	flags.StringVar(&d.Name, "name", "id", "the column's name")
	flags.StringVar(&kind, "kind", "", "bigint, bytes, text or uuid (default the scheme's first)")
	flags.StringVar(&domain, "domain", "production",
		"the values that the column accepts: production; layout, with test IDs; positive, with "+
			"rows older than the scheme; number, 1 to 2^53-1")
	addLayout(c, &layout)
	flags.BoolVar(&d.key, "primary-key", false, "the column is the primary key")
	flags.BoolVar(&d.nullable, "nullable", false, "the column may hold NULL")
	flags.BoolVar(&d.indexed, "indexed", false,
		"for clickhouse: the ID of a table in another order, with a data skipping index")
	flags.BoolVar(&d.spread, "spread", false, "for clickhouse: eightbyte IDs of mode SPREAD")
	return c
}
