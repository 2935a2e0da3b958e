package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
)

func (a *app) newCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "new SCHEME",
		Short: "Mint IDs",
		// Flags are those of a scheme: an unknown scheme is what to complain about.
		FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("which scheme? want decimal")
			}
			_, err := schemeNamed(args[0])
			return err
		},
	}
	c.AddCommand(a.newDecimalCommand())
	return c
}

func (a *app) newDecimalCommand() *cobra.Command {
	var flags storeFlags
	var launch string
	var count int64
	var test bool
	c := &cobra.Command{
		Use:   "decimal [-n N] (--db DSN --launch L | --test)",
		Short: "Mint decimal IDs",
		Long: `Mint decimal IDs, one per line. The command takes a generator number of the launch for itself, so what it prints was never
minted before and never will be again. With --test the IDs are of launch 0, the same each time, and not for production.`,
		Example: "  idmint new decimal -n 3 --db sqlite:app.db --launch 65\n  idmint new decimal --test",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if count < 1 {
				return usage("-n %d: want at least 1", count)
			}
			ctx, cancel := interruptible(c)
			defer cancel()
			gen, done, err := a.decimalGenerator(ctx, c, &flags, launch, test)
			if err != nil {
				return err
			}
			defer done()
			return a.mint(ctx, gen, count)
		},
	}
	flags.add(c)
	c.Flags().StringVar(&launch, "launch", "", "the launch (default $"+launchVariable+")")
	c.Flags().Int64VarP(&count, "count", "n", 1, "how many")
	c.Flags().BoolVar(&test, "test", false, "IDs of launch 0, without a database")
	return c
}

func (a *app) decimalGenerator(ctx context.Context, c *cobra.Command, flags *storeFlags, launch string, test bool) (*generator.Decimal, func(), error) {
	if test {
		if flags.dsn != "" || launch != "" {
			return nil, nil, usage("--test goes without --db and --launch")
		}
		return generator.NewTestDecimal(&counting{}), func() {}, nil
	}
	number, err := launchFlag(c, launch)
	if err != nil {
		return nil, nil, err
	}
	if number == 0 {
		return nil, nil, usage("--launch (or %s) is required: idmint launch start makes one; or --test", launchVariable)
	}
	log, done, err := flags.open(ctx, a)
	if err != nil {
		return nil, nil, err
	}
	gen, err := generator.NewDecimal(number, log.Generators(number))
	if err != nil {
		done()
	}
	return gen, done, err
}

func (a *app) mint(ctx context.Context, gen *generator.Decimal, count int64) error {
	ids := make([]idtype.DecimalID, min(count, 4096))
	for count > 0 {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		n, err := gen.Fill(ctx, ids[:min(count, int64(len(ids)))])
		for _, id := range ids[:n] {
			if err := a.writeID(id); err != nil {
				return err
			}
		}
		if err != nil {
			return err
		}
		count -= int64(n)
	}
	return nil
}

func (a *app) writeID(id idtype.DecimalID) error {
	if a.json {
		return writeJSON(a.out, decimalFields{idtype.SchemeDecimal, id.String(), id.Parts()})
	}
	b, err := id.AppendText(a.out.AvailableBuffer())
	if err == nil {
		_, err = fmt.Fprintf(a.out, "%s\n", b)
	}
	return err
}

// counting hands out 0, 1, 2 …: enough for one process that nobody shares IDs with.
type counting struct{ next int }

func (c *counting) NextGenerator(context.Context) (int, error) {
	c.next++
	return c.next - 1, nil
}
