// Package keys is shared by the adapters of ORMs. It knows which source mints the keys of a type,
// and which columns store IDs. Its errors do not begin with a package name, because each adapter
// adds its own.
package keys

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/nilable"
)

// A Source mints IDs of one scheme, as generator.Decimal does, and must be safe for concurrent use.
type Source[T idtype.ID] interface {
	// Fill mints len(dst) IDs and returns how many it minted, which is fewer only with an error.
	Fill(ctx context.Context, dst []T) (int, error)
}

// A Minter is a [Source] whose type T is known only to reflection.
type Minter interface {
	IsMissing() bool // nil, or a nil pointer
	Scheme() idtype.Scheme
	Type() reflect.Type
	// Mint returns a []T of n IDs.
	Mint(ctx context.Context, n int) (reflect.Value, error)
}

// Of returns the minter of a source.
func Of[T idtype.ID](s Source[T]) Minter { return minter[T]{s} }

type minter[T idtype.ID] struct{ source Source[T] }

func (m minter[T]) IsMissing() bool { return nilable.IsNil(m.source) }

func (m minter[T]) Scheme() idtype.Scheme { return schemeOf(m.Type()) }

func (m minter[T]) Type() reflect.Type { return reflect.TypeFor[T]() }

// Mint returns all n IDs or an error. If the source fails midway, the IDs that it has minted are
// never stored, but such gaps do no harm.
func (m minter[T]) Mint(ctx context.Context, n int) (reflect.Value, error) {
	ids := make([]T, n)
	got, err := m.source.Fill(ctx, ids)
	if err == nil && (got != n || slices.ContainsFunc(ids, T.IsZero)) {
		err = fmt.Errorf("the source minted %d of %d IDs, up to %v, and returned no error",
			got, n, ids[n-1])
	}
	return reflect.ValueOf(ids), err
}

// A Rule, which Use and For create, says which keys a source mints, and is immutable.
type Rule struct {
	Minter
	key reflect.Type // the only key type; nil in a general rule
}

// Use returns the general rule for T's scheme.
func Use[T idtype.ID](s Source[T]) Rule { return Rule{Minter: Of(s)} }

// For returns the rule for one key type, which takes precedence over the general rule.
func For[K, T idtype.ID](s Source[T]) Rule {
	r := Use(s)
	r.key = reflect.TypeFor[K]()
	return r
}

// Rules find the source of a key type, and are immutable.
type Rules struct {
	general map[idtype.Scheme]Rule // by [idtype.LayoutOf]
	keys    map[reflect.Type]Rule
}

// NewRules checks rules, and returns an error that joins all problems.
func NewRules(rules []Rule) (*Rules, error) {
	all := &Rules{map[idtype.Scheme]Rule{}, map[reflect.Type]Rule{}}
	var errs []error
	if len(rules) == 0 {
		errs = append(errs, errors.New("there are no rules: pass at least one, such as Use(gen)"))
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
	case r.Minter == nil || r.IsMissing():
		return errors.New("it has no source: pass a generator")
	case r.Scheme() == "":
		return noID(r.Type())
	case r.key != nil && !IsID(r.key):
		return noID(r.key)
	case r.key == nil && all.general[r.Scheme()].Minter != nil:
		return fmt.Errorf("a second general rule for %s IDs: limit one of them with For",
			r.Scheme())
	case r.key == nil:
		all.general[r.Scheme()] = r
		return nil
	case all.keys[r.key].Minter != nil:
		return fmt.Errorf("a second rule for %s", TypeName(r.key))
	case schemeOf(r.key) != r.Scheme() || !r.Type().ConvertibleTo(r.key):
		return fmt.Errorf("%s cannot hold %s IDs: use a generator of its scheme and layout",
			TypeName(r.key), r.Scheme())
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
		return reflect.Value{}, fmt.Errorf("no rule mints %s: add one for %s IDs",
			TypeName(key), schemeOf(key))
	}
	ids, err := r.Minter.Mint(ctx, 1)
	if err != nil {
		return reflect.Value{}, fmt.Errorf("minting %s: %w", TypeName(key), err)
	}
	return ids.Index(0).Convert(key), nil
}

// schemeOf returns "" for a type that is not an ID.
func schemeOf(t reflect.Type) idtype.Scheme {
	if IsID(t) {
		return idtype.LayoutOf(reflect.Zero(t).Interface().(ID))
	}
	return ""
}

// IsID reports whether a type is an ID. Pointers to IDs, and structs that embed such pointers, have
// the methods too, but panic on nil.
func IsID(t reflect.Type) bool {
	integerOrBytes := t.Kind() == reflect.Int64 || t.Kind() == reflect.Array
	return integerOrBytes && t.Implements(reflect.TypeFor[ID]())
}

// Package is the path of the package that defines the IDs.
var Package = reflect.TypeFor[idtype.DecimalID]().PkgPath()

var wrappers = map[string]bool{
	"database/sql": true, Package: true,
	strings.TrimSuffix(Package, "idtype") + "sqlid":    true,
	strings.TrimSuffix(Package, "idtype") + "publicid": true,
}

// IsWrapper reports whether a type belongs to the packages of IDs or of their wrappers. A struct of
// another package that contains an ID may mean anything.
func IsWrapper(t reflect.Type) bool { return wrappers[t.PkgPath()] }

func noID(t reflect.Type) error {
	return fmt.Errorf("%s is not an ID: use the type that it points to or embeds", TypeName(t))
}

// TypeName returns a type without the package paths in it: idtype.Decimal[shop.User].
func TypeName(t reflect.Type) string {
	return strings.ReplaceAll(importPath.ReplaceAllString(t.String(), ""), "[interface {}]", "ID")
}

var importPath = regexp.MustCompile(`[^\[\],*]*/`)
