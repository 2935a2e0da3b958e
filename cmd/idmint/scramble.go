package main

import (
	"fmt"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/explain"
	"github.com/idmint/idmint/scramble"
)

// keyVariable holds the key of scramble and unscramble.
const keyVariable = "IDMINT_SCRAMBLE_KEY"

// scrambleFlags choose a permutation.
type scrambleFlags struct {
	scheme, key, method string
	domain              int
}

func (f *scrambleFlags) permutation(c *cobra.Command) (scramble.Permutation, error) {
	from, text := "--key", f.key
	if !c.Flags().Changed("key") {
		from, text = keyVariable, os.Getenv(keyVariable)
		if text == "" {
			return nil, usage("%s (or --key) is required: openssl rand -hex 16 makes a key",
				keyVariable)
		}
	}
	key, err := scramble.ParseKey(text)
	if err != nil {
		return nil, usageError{fmt.Errorf("%s: %w", from, err)}
	}
	domain := scramble.Domain(f.domain)
	if domain != scramble.Int63 && domain != scramble.Int53 {
		return nil, usage("--domain %d: want 63 or 53", f.domain)
	}
	switch f.method {
	case "network":
		return scramble.NewNetwork(domain, key)
	case "multiplicative":
		return scramble.NewMultiplicative(domain, key)
	}
	return nil, usage("--method %q: want network or multiplicative", f.method)
}

func (a *app) scrambleCommand() *cobra.Command {
	return a.permuteCommand(&cobra.Command{
		Use:   "scramble [--scheme SCHEME] [ID…]",
		Short: "Make IDs look random",
		Long: `Make IDs look random, for those that people outside get to see. The key selects
a permutation of all IDs, and undoes it.

IDs are given as arguments or one per line on standard input. With --scheme
they must follow the scheme's layout.

It hides, it does not secure. Whoever sees some pairs may work out the rest. A
scrambled ID that is guessed is as good as one that was handed out.

Keep the key for ever. Without it, or without the same --domain and --method,
scrambled IDs cannot be undone. Whoever lists processes sees a key on the
command line, but not ` + keyVariable + `.`,
		Example: `  export ` + keyVariable + `=00112233445566778899aabbccddeeff
  idmint scramble 14150009200065
  idmint scramble --scheme short --method multiplicative < shorts.txt`,
	}, func(p scramble.Permutation, s scheme, text string) (shuffled, error) {
		id, err := readValid(s, explain.Text, text)
		if err != nil {
			return shuffled{}, err
		}
		other, err := permuted(s, id, p.Scramble)
		if err != nil {
			return shuffled{}, err
		}
		return shuffled{text, other.In(explain.Text), other.In(explain.Text)}, nil
	})
}

func (a *app) unscrambleCommand() *cobra.Command {
	return a.permuteCommand(&cobra.Command{
		Use:   "unscramble [--scheme SCHEME] [ID…]",
		Short: "Find the IDs behind scrambled ones",
		Long: `Find the IDs behind scrambled ones: what scramble made them from. The key,
--domain and --method are to be the same.

Under another key every scrambled ID has some ID behind it, too. With --scheme,
one that does not follow the scheme's layout is an error.`,
		Example: `  export ` + keyVariable + `=00112233445566778899aabbccddeeff
  idmint unscramble --scheme decimal "$(idmint scramble 14150009200065)"`,
	}, func(p scramble.Permutation, s scheme, text string) (shuffled, error) {
		other, err := s.read(explain.Text, text)
		if err != nil {
			return shuffled{}, err
		}
		id, err := permuted(s, other, p.Unscramble)
		if err == nil {
			if err = id.Validate(); err != nil {
				err = fmt.Errorf("%s is not the scrambled form of an ID, with this key: %w", text,
					err)
			}
		}
		if err != nil {
			return shuffled{}, err
		}
		return shuffled{id.In(explain.Text), text, id.In(explain.Text)}, nil
	})
}

// A shuffled ID is one and its scrambled form.
type shuffled struct {
	ID        string `json:"id"`
	Scrambled string `json:"scrambled"`
	answer    string // one of the two
}

// permuted is the ID whose number is that of id after a step.
func permuted(s scheme, id identified, step func(int64) (int64, error)) (identified, error) {
	number, err := strconv.ParseInt(id.In(explain.Number), 10, 64)
	if err != nil {
		return nil, err
	}
	if number, err = step(number); err != nil {
		return nil, err
	}
	return s.read(explain.Number, strconv.FormatInt(number, 10))
}

// permuteCommand makes a command of what it does with one ID.
func (a *app) permuteCommand(
	c *cobra.Command, do func(scramble.Permutation, scheme, string) (shuffled, error),
) *cobra.Command {
	var f scrambleFlags
	c.RunE = func(c *cobra.Command, args []string) error {
		s, err := schemeNamed(f.scheme)
		if err != nil {
			return err
		}
		if s.storage() != idtype.StorageBigint {
			return usage("--scheme %s: its IDs are no numbers of 63 bits", s.Name())
		}
		p, err := f.permutation(c)
		if err != nil {
			return err
		}
		return a.eachInput(args, func(text string) error {
			found, err := do(p, s, text)
			switch {
			case err != nil:
				return a.refuse(text, err)
			case a.json:
				return a.out.json(found)
			}
			return a.out.line(found.answer)
		})
	}
	c.Flags().StringVar(&f.scheme, "scheme", string(idtype.SchemeSequence),
		"decimal, trace, short, or sequence for any number")
	c.Flags().StringVar(&f.key, "key", "", "32 hexadecimal digits (default $"+keyVariable+")")
	c.Flags().IntVar(&f.domain, "domain", int(scramble.Int63),
		"63 or 53: the bits of the IDs, those of ECMAScript's numbers being 53")
	c.Flags().StringVar(&f.method, "method", "network", "network or multiplicative")
	return c
}
