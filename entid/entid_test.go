package entid_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"entgo.io/ent"
	"entgo.io/ent/dialect"
	"entgo.io/ent/schema/field"

	"github.com/idmint/idmint/entid"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
)

type (
	user    struct{}
	UserID  = idtype.Decimal[user]
	SnoID   = idtype.Sno[idtype.AsText[user]]
	TSID    = idtype.SnowflakeIn[idtype.AsNumber[user], idtype.TSID]
	FlakeID = idtype.Snowflake[user]
)

const here = "github.com/idmint/idmint/entid_test"

func TestFieldNames(t *testing.T) {
	for _, c := range []struct {
		desc       *field.Descriptor
		pkg, ident string
		wrong      string
	}{
		{entid.Key[UserID]("UserID").Descriptor(), here, "entid_test.UserID", ""},
		{entid.Of[SnoID]("event", "SnoID").Descriptor(), here, "entid_test.SnoID", ""},
		{entid.Key[FlakeID]("FlakeID").Descriptor(), here, "entid_test.FlakeID", ""},
		{entid.Of[TSID]("old", "TSID").Descriptor(), here, "entid_test.TSID", ""},
		{
			entid.Of[UserID]("u", "example.com/shop/keys.UserID").Descriptor(),
			"example.com/shop/keys", "keys.UserID", "",
		},
		{
			entid.Of[idtype.DecimalID]("any", "github.com/idmint/idmint/idtype.DecimalID").Descriptor(),
			"github.com/idmint/idmint/idtype", "idtype.DecimalID", "",
		},
		{
			entid.Of[idtype.DecimalID]("any", "DecimalID").Descriptor(), "", "",
			"the package of idtype.DecimalID is not known",
		},
		{
			entid.Key[*UserID]("UserID").Descriptor(), "", "",
			"*idtype.Decimal[entid_test.user] is not an ID",
		},
		{entid.Key[UserID]("userID").Descriptor(), "", "", `alias "userID" must be an exported name`},
		{entid.Key[UserID]("").Descriptor(), "", "", `alias "" must be an exported name`},
		{entid.Key[UserID]("a/b.Decimal[x]").Descriptor(), "", "", "must be an exported name"},
	} {
		d := c.desc
		if c.wrong != "" {
			if d.Err == nil || !strings.HasPrefix(d.Err.Error(), "entid: ") ||
				!strings.Contains(d.Err.Error(), c.wrong) {
				t.Errorf("%s: %v, want %q", d.Name, d.Err, c.wrong)
			}
			continue
		}
		if d.Err != nil || d.Info.PkgPath != c.pkg || d.Info.Ident != c.ident ||
			d.Info.RType.PkgPath != c.pkg || d.Info.RType.Ident != c.ident ||
			"."+d.Info.RType.Name != c.ident[strings.LastIndex(c.ident, "."):] {
			t.Errorf("%s is %+v of %+v: %v", d.Name, d.Info, d.Info.RType, d.Err)
		}
		if !d.Info.ValueScanner() || !d.Info.Validator() || !d.Info.Stringer() {
			t.Errorf("%s: ent does not see the type's methods", d.Name)
		}
	}
}

func TestFieldOptions(t *testing.T) {
	d := entid.Of[UserID]("boss_id", "UserID").Optional().Nillable().Immutable().Unique().
		StorageKey("boss").StructTag(`json:"boss"`).Comment("who").Descriptor()
	if !d.Optional || !d.Nillable || !d.Immutable || !d.Unique || d.StorageKey != "boss" ||
		d.Tag != `json:"boss"` || d.Comment != "who" || d.Info.Type != field.TypeOther {
		t.Errorf("%+v", d)
	}
	key := entid.Key[UserID]("UserID").Descriptor()
	if key.Name != "id" || !key.Immutable || key.SchemaType[dialect.SQLite] != "int" ||
		key.SchemaType[dialect.Postgres] != "bigint" || len(key.Annotations) != 1 {
		t.Errorf("%+v", key)
	}
	domain := entid.Of[UserID]("a", "UserID").
		SchemaType(map[string]string{dialect.Postgres: "user_id"}).Annotations(key.Annotations...)
	if d := domain.Descriptor(); d.SchemaType[dialect.Postgres] != "user_id" ||
		len(d.Annotations) != 1 {
		t.Errorf("%+v", d)
	}
}

func TestAssignErrors(t *testing.T) {
	var none entid.Source[idtype.DecimalID]
	var nilSource *generator.Decimal
	ids := generator.NewTestDecimal(nil)
	for want, rules := range map[string][]entid.Rule{
		"there are no rules":            nil,
		"rule 0: it has no source":      {entid.Use(none)},
		"rule 1: it has no source":      {entid.Use(ids), entid.Use(nilSource)},
		"rule 1: a second general rule": {entid.Use(ids), entid.Use(ids)},
		"rule 1: a second rule for":     {entid.For[UserID](ids), entid.For[UserID](ids)},
		"cannot hold decimal IDs":       {entid.For[SnoID](ids)},
	} {
		_, err := entid.Assign(rules...)
		if err == nil || !strings.HasPrefix(err.Error(), "entid: ") ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// A mutation has the methods that ent generates.
type mutation struct {
	ent.Mutation
	op ent.Op
	id *UserID
}

func (m *mutation) Op() ent.Op      { return m.op }
func (m *mutation) Type() string    { return "User" }
func (m *mutation) SetID(id UserID) { m.id = &id }
func (m *mutation) ID() (UserID, bool) {
	if m.id == nil {
		return 0, false
	}
	return *m.id, true
}

// numbered is a mutation of a type that ent numbers.
type numbered struct{ mutation }

func (m *numbered) ID() (int, bool) { return 0, false }
func (m *numbered) SetID(int)       { panic("set") }

// composite has no single key.
type composite struct{ ent.Mutation }

func (composite) Op() ent.Op { return ent.OpCreate }

func TestAssign(t *testing.T) {
	ids := generator.NewTestDecimal(nil)
	hook, err := entid.Assign(entid.Use(ids))
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	next := hook(ent.MutateFunc(func(context.Context, ent.Mutation) (ent.Value, error) {
		calls++
		return nil, nil
	}))
	given := UserID(7)
	for _, c := range []struct {
		mutation *mutation
		want     UserID
	}{
		{&mutation{op: ent.OpCreate}, 10_000_000_000},
		{&mutation{op: ent.OpCreate, id: &given}, given},
		{&mutation{op: ent.OpUpdate}, 0},
		{&mutation{op: ent.OpDelete}, 0},
	} {
		if _, err := next.Mutate(t.Context(), c.mutation); err != nil {
			t.Fatal(err)
		}
		if id, _ := c.mutation.ID(); id != c.want {
			t.Errorf("%v: the key is %v, want %v", c.mutation.op, id, c.want)
		}
	}
	for _, m := range []ent.Mutation{
		&numbered{mutation{op: ent.OpCreate}}, composite{},
	} {
		if _, err := next.Mutate(t.Context(), m); err != nil {
			t.Error(err)
		}
	}
	if calls != 6 {
		t.Errorf("%d mutations went on", calls)
	}
}

func TestAssignFails(t *testing.T) {
	none, err := entid.Assign(entid.Use(noSnos{}))
	if err != nil {
		t.Fatal(err)
	}
	_, err = none(nil).Mutate(t.Context(), &mutation{op: ent.OpCreate})
	var refused *entid.Error
	if !errors.As(err, &refused) || refused.Type != "User" ||
		err.Error() != "entid: User: no rule mints idtype.Decimal[entid_test.user]: "+
			"add one for decimal IDs" {
		t.Error(err)
	}
}

// A source that keeps no promise makes no row with a zero key.
func TestAssignOfBadSources(t *testing.T) {
	for name, source := range map[string]entid.Source[idtype.DecimalID]{
		"nothing": counted(0), "zero": counted(1),
	} {
		hook, err := entid.Assign(entid.Use(source))
		if err != nil {
			t.Fatal(err)
		}
		m := &mutation{op: ent.OpCreate}
		_, err = hook(nil).Mutate(t.Context(), m)
		if err == nil || !strings.Contains(err.Error(), "returned no error") || m.id != nil {
			t.Errorf("%s: %v, %v", name, m.id, err)
		}
	}
}

// counted says that it minted so many, and minted none.
type counted int

func (c counted) Fill(context.Context, []idtype.DecimalID) (int, error) { return int(c), nil }

type noSnos struct{}

func (noSnos) Fill(context.Context, []idtype.SnoID) (int, error) { return 0, nil }
