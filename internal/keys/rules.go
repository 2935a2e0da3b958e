// Package keys is what the adapters of bun and ent share. It knows which source mints the keys of a
// type, and which columns hold IDs. Its errors have no package's name: the adapters put theirs.
package keys

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"github.com/idmint/idmint/idtype"
)

// A Source mints IDs of one scheme, as generator.Decimal does. Goroutines may call it at the same
// time.
type Source[T idtype.ID] interface {
	// Fill mints len(dst) IDs and returns how many it minted, which is fewer only with an error.
	Fill(ctx context.Context, dst []T) (int, error)
}

// A Rule says which keys a source mints. Use and For make it. It is immutable.
type Rule struct {
	scheme idtype.Scheme
	minted reflect.Type // the type of the source's IDs
	key    reflect.Type // the only key type; nil in a general rule
	mint   func(context.Context) (reflect.Value, error)
}

// Use makes the general rule of T's scheme.
func Use[T idtype.ID](s Source[T]) Rule {
	minted := reflect.TypeFor[T]()
	r := Rule{scheme: schemeOf(minted), minted: minted}
	if !isNil(s) {
		r.mint = func(ctx context.Context) (reflect.Value, error) {
			var id [1]T
			n, err := s.Fill(ctx, id[:])
			if err == nil && (n != 1 || id[0].IsZero()) {
				err = fmt.Errorf("the source minted %d of 1 IDs, %v, and returned no error", n, id[0])
			}
			return reflect.ValueOf(id[0]), err
		}
	}
	return r
}

// isNil sees a nil *generator.Decimal in the interface too. It would panic at the first row.
func isNil(source any) bool {
	if source == nil {
		return true
	}
	switch v := reflect.ValueOf(source); v.Kind() {
	case reflect.Pointer, reflect.Func:
		return v.IsNil()
	}
	return false
}

// For makes the rule of one key type, which wins over the general one.
func For[K, T idtype.ID](s Source[T]) Rule {
	r := Use(s)
	r.key = reflect.TypeFor[K]()
	return r
}

// Rules find the source of a key type. They are immutable.
type Rules struct {
	general map[idtype.Scheme]Rule
	keys    map[reflect.Type]Rule
}

// NewRules checks rules. The error joins all that is wrong with them.
func NewRules(rules []Rule) (*Rules, error) {
	all := &Rules{map[idtype.Scheme]Rule{}, map[reflect.Type]Rule{}}
	var errs []error
	if len(rules) == 0 {
		errs = append(errs, errors.New("there are no rules: give at least one, as in Use(gen)"))
	}
	for i, r := range rules {
		if err := all.add(r); err != nil {
			errs = append(errs, fmt.Errorf("rule %d: %w", i, err))
		}
	}
	return all, errors.Join(errs...)
}

func (all *Rules) add(r Rule) error {
	switch {
	case r.mint == nil:
		return errors.New("it has no source: give it a generator")
	case r.scheme == "":
		return noID(r.minted)
	case r.key != nil && !IsID(r.key):
		return noID(r.key)
	case r.key == nil && all.general[r.scheme].mint != nil:
		return fmt.Errorf("a second general rule for %s IDs: limit one of them with For", r.scheme)
	case r.key == nil:
		all.general[r.scheme] = r
		return nil
	case all.keys[r.key].mint != nil:
		return fmt.Errorf("a second rule for %s", TypeName(r.key))
	case schemeOf(r.key) != r.scheme || !r.minted.ConvertibleTo(r.key):
		return fmt.Errorf("%s holds no %s IDs: take a generator of its scheme",
			TypeName(r.key), r.scheme)
	}
	all.keys[r.key] = r
	return nil
}

// Mint returns a new ID of the key type.
func (all *Rules) Mint(ctx context.Context, key reflect.Type) (reflect.Value, error) {
	if !IsID(key) {
		return reflect.Value{}, noID(key)
	}
	r, ok := all.keys[key]
	if !ok {
		r, ok = all.general[schemeOf(key)]
	}
	if !ok {
		return reflect.Value{}, fmt.Errorf("no rule mints %s: give one for %s IDs",
			TypeName(key), schemeOf(key))
	}
	id, err := r.mint(ctx)
	if err != nil {
		return reflect.Value{}, fmt.Errorf("minting %s: %w", TypeName(key), err)
	}
	return id.Convert(key), nil
}

// schemeOf returns "" for a type that is no ID.
func schemeOf(t reflect.Type) idtype.Scheme {
	if IsID(t) {
		return reflect.Zero(t).Interface().(ID).Scheme()
	}
	return ""
}

// IsID reports whether a type is an ID. Pointers to IDs, and structs that embed those, have the
// methods too, and panic on nil.
func IsID(t reflect.Type) bool {
	integerOrBytes := t.Kind() == reflect.Int64 || t.Kind() == reflect.Array
	return integerOrBytes && t.Implements(reflect.TypeFor[ID]())
}

func noID(t reflect.Type) error {
	return fmt.Errorf("%s is no ID: take the type that it points to or embeds", TypeName(t))
}

// TypeName is a type without the paths of the packages in it: idtype.Decimal[shop.User].
func TypeName(t reflect.Type) string {
	return strings.ReplaceAll(importPath.ReplaceAllString(t.String(), ""), "[interface {}]", "ID")
}

var importPath = regexp.MustCompile(`[^\[\],*]*/`)
