package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/schemes"
)

var _ = add(kind[idtype.DecimalID, idtype.DecimalParts]{
	Kind:    schemes.Decimal,
	id:      idtype.DecimalParts.ID,
	draw:    drawDecimal,
	command: newDecimal,
})

func drawDecimal(id idtype.DecimalID) drawing {
	var fields []field
	for _, p := range (schemes.Identity[idtype.DecimalID]{Kind: schemes.Decimal, ID: id}).Parts() {
		fields = append(fields, field{p.Letter, p.Width, fmt.Sprintf("%s (%s)", p.Name, p.Value)})
	}
	d := drawPlaces(int64(id), fields)
	if id.IsTest() {
		d = append(d, line("launch 0: made by a test generator"))
	}
	return d
}

func newDecimal(a *app, k *kind[idtype.DecimalID, idtype.DecimalParts]) *cobra.Command {
	var flags storeFlags
	var launch string
	var count int64
	var test bool
	c := &cobra.Command{
		Use:   "decimal [-n N] (--db DSN --launch L | --test)",
		Short: "Mint decimal IDs",
		Long: `Mint decimal IDs, one per line. The command takes a generator number of the
launch for itself alone, so that the IDs it prints were never minted before and
never will be again. They are above those of all runs and apps that have reported
to the launch log, and the command reports its own. With --test the IDs are of
launch 0, which are the same each time and not for production.`,
		Example: "  idmint new decimal -n 3 --db sqlite:app.db --launch 65\n" +
			"  idmint new decimal --test",
		RunE: func(c *cobra.Command, _ []string) error {
			if err := checkCount(count); err != nil {
				return err
			}
			ctx, cancel := interruptible(c)
			defer cancel()
			gen, done, err := a.decimalGenerator(ctx, c, &flags, launch, test)
			if err != nil {
				return err
			}
			defer done()
			defer a.closeDecimal(ctx, gen)
			return mint(ctx, a, k, gen, count)
		},
	}
	flags.add(c)
	c.Flags().StringVar(&launch, "launch", "", "the launch (default $"+launchVariable+")")
	addCount(c, &count)
	c.Flags().BoolVar(&test, "test", false, "mint IDs of launch 0, without a database")
	return c
}

func (a *app) decimalGenerator(
	ctx context.Context, c *cobra.Command, flags *storeFlags, launch string, test bool,
) (*generator.Decimal, func(), error) {
	if test {
		if flags.name.given || launch != "" {
			return nil, nil, usage("--test excludes --db and --launch")
		}
		return generator.NewTestDecimal(nil), func() {}, nil
	}
	number, err := launchFlag(c, launch)
	if err != nil {
		return nil, nil, err
	}
	if number == 0 {
		return nil, nil, usage(
			"--launch (or %s) is required: idmint launch start prints one; or use --test",
			launchVariable)
	}
	log, done, err := flags.open(ctx, a)
	if err != nil {
		return nil, nil, err
	}
	gen, err := generator.NewDecimal(log.Generators(number))
	if err != nil {
		done()
	}
	return gen, done, err
}

// closeDecimal reports how far gen has come, so that the next run begins above it. The minted IDs
// are valid even if that fails.
func (a *app) closeDecimal(ctx context.Context, gen *generator.Decimal) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reportWait)
	defer cancel()
	a.warnUnreported(gen.Close(ctx))
}

func (a *app) warnUnreported(err error) {
	if err != nil {
		a.warn("warning: the next IDs may be below these: %v", err)
	}
}

// reportWait limits how long a command waits for its report at the end.
const reportWait = 5 * time.Second
