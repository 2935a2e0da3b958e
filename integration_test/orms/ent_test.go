package orms

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	entdialect "entgo.io/ent/dialect"
	entsqlschema "entgo.io/ent/dialect/entsql"
	entsql "entgo.io/ent/dialect/sql"
	"entgo.io/ent/dialect/sql/schema"
	"entgo.io/ent/dialect/sql/sqlgraph"

	"github.com/idmint/idmint/entid"
	"github.com/idmint/idmint/examples/ent/ent"
	"github.com/idmint/idmint/examples/ent/ent/order"
	"github.com/idmint/idmint/examples/ent/ent/user"
	"github.com/idmint/idmint/examples/ent/shopid"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/sqlid"
)

// inEnt runs a test on both databases, with the tables of the example. The client has no hook yet.
func inEnt(t *testing.T, test func(t *testing.T, client *ent.Client, db *sql.DB)) {
	everywhere(t, func(t *testing.T, d sqlid.Dialect, db *sql.DB) {
		client := ent.NewClient(ent.Driver(entid.Guard(entsql.OpenDB(entDialect(d), db))))
		try(t, client.Schema.Create(t.Context()))
		test(t, client, db)
	})
}

func entDialect(d sqlid.Dialect) string {
	if d == sqlid.SQLite {
		return entdialect.SQLite
	}
	return entdialect.Postgres
}

func useHook(t *testing.T, client *ent.Client, rules ...entid.Rule) {
	t.Helper()
	assign, err := entid.Assign(rules...)
	try(t, err)
	client.Use(assign)
}

func TestEntKeys(t *testing.T) {
	inEnt(t, func(t *testing.T, client *ent.Client, _ *sql.DB) {
		ctx := t.Context()
		useHook(t, client, entid.Use(newDecimal(t)))
		ann, err := client.User.Create().SetName("Ann").Save(ctx)
		if err != nil || ann.ID != 10_000_000_001 {
			t.Fatalf("Ann is %v, %v", ann, err)
		}
		users, err := client.User.CreateBulk(client.User.Create().SetName("Bob"),
			client.User.Create().SetName("Cem").SetID(70_000_000_001),
			client.User.Create().SetName("Dan")).Save(ctx)
		if err != nil || users[0].ID != 20_000_000_001 || users[1].ID != 70_000_000_001 ||
			users[2].ID != 30_000_000_001 {
			t.Fatalf("the users are %v, %v", users, err)
		}
		orders, err := client.Order.CreateBulk(client.Order.Create().SetUser(ann),
			client.Order.Create().SetUserID(users[0].ID).SetApprover(ann)).Save(ctx)
		if err != nil || orders[0].ID != 40_000_000_001 || orders[1].ID != 50_000_000_001 {
			t.Fatalf("the orders are %v, %v", orders, err)
		}

		read, err := client.Order.Query().WithUser().WithApprover().Order(order.ByID()).All(ctx)
		if err != nil || len(read) != 2 || read[0].Edges.User.ID != ann.ID ||
			read[0].ApproverID != nil || *read[1].ApproverID != ann.ID ||
			read[1].Edges.Approver.Name != "Ann" {
			t.Fatalf("the orders are %v, %v", read, err)
		}
		names, err := client.User.Query().Where(user.IDIn(ann.ID, users[1].ID), user.IDGT(1)).
			Order(user.ByID()).WithOrders().All(ctx)
		if err != nil || len(names) != 2 || len(names[0].Edges.Orders) != 1 {
			t.Fatalf("the users are %v, %v", names, err)
		}
		try(t, client.Order.UpdateOneID(orders[1].ID).ClearApproverID().Exec(ctx))
		again, err := client.Order.Get(ctx, orders[1].ID)
		if err != nil || again.ApproverID != nil {
			t.Errorf("the order is %v, %v", again, err)
		}
	})
}

// A row that comes without a key is refused, by whatever way. ent alone writes an identity, and
// AUTOINCREMENT.
func TestEntNumbersNothing(t *testing.T) {
	inEnt(t, func(t *testing.T, client *ent.Client, db *sql.DB) {
		ctx := t.Context()
		for _, text := range []string{
			"INSERT INTO users (name, visits) VALUES ('Bob', 0)",
			"INSERT INTO users (id, name, visits) VALUES (NULL, 'Bob', 0)",
		} {
			if _, err := db.ExecContext(ctx, text); err == nil {
				t.Errorf("%s: it was stored", text)
			}
		}
		// The hook is not there yet.
		if _, err := client.User.Create().SetName("Bob").Save(ctx); err == nil {
			t.Error("a user was stored without a key")
		}
		if _, err := client.User.CreateBulk(client.User.Create().SetName("Bob"),
			client.User.Create().SetName("Cem")).Save(ctx); err == nil {
			t.Error("users were stored without keys")
		}
		if n, err := client.User.Query().Count(ctx); n != 0 || err != nil {
			t.Errorf("%d users, %v", n, err)
		}
	})
}

func TestEntZeroIsRefused(t *testing.T) {
	inEnt(t, func(t *testing.T, client *ent.Client, _ *sql.DB) {
		ctx := t.Context()
		useHook(t, client, entid.Use(newDecimal(t)))
		ann := client.User.Create().SetName("Ann").SaveX(ctx)
		for name, err := range map[string]error{
			"key":         client.User.Create().SetName("Bob").SetID(0).Exec(ctx),
			"foreign key": client.Order.Create().SetUserID(0).Exec(ctx),
			"optional":    client.Order.Create().SetUser(ann).SetApproverID(0).Exec(ctx),
			"update":      client.Order.Update().SetApproverID(0).Exec(ctx),
			"condition": func() error {
				_, err := client.User.Query().Where(user.ID(0)).Only(ctx)
				return err
			}(),
			"delete": client.User.DeleteOneID(0).Exec(ctx),
		} {
			if !errors.Is(err, idtype.ErrZero) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if n, err := client.Order.Query().Count(ctx); n != 0 || err != nil {
			t.Errorf("%d orders, %v", n, err)
		}
	})
}

func TestEntBadSource(t *testing.T) {
	inEnt(t, func(t *testing.T, client *ent.Client, _ *sql.DB) {
		broken := errors.New("broken")
		users := &listed[idtype.DecimalID]{ids: []idtype.DecimalID{10_000_000_001}}
		useHook(t, client, entid.For[shopid.UserID](users), entid.Use(failing{broken}))
		ann := client.User.Create().SetName("Ann").SaveX(t.Context())
		var refused *entid.Error
		err := client.Order.Create().SetUser(ann).Exec(t.Context())
		if !errors.As(err, &refused) || !errors.Is(err, broken) || refused.Type != "Order" {
			t.Error(err)
		}
		err = client.User.CreateBulk(client.User.Create().SetName("Bob")).Exec(t.Context())
		if !errors.As(err, &refused) || refused.Type != "User" {
			t.Error(err)
		}
	})
}

// newValues is what ent calls it, without what UpdateNewValues adds.
func newValues() entsql.ConflictOption { return entsql.ResolveWithNewValues() }

// After an upsert of one row ent returns the key that is in the table.
func TestEntUpserts(t *testing.T) {
	inEnt(t, func(t *testing.T, client *ent.Client, _ *sql.DB) {
		ctx := t.Context()
		useHook(t, client, entid.Use(newDecimal(t)))
		ann := client.User.Create().SetName("Ann").SaveX(ctx)
		client.Order.Create().SetUser(ann).ExecX(ctx)
		create := func(name string) *ent.UserCreate {
			return client.User.Create().SetName(name).SetVisits(7)
		}
		stored := func(name string) shopid.UserID {
			return client.User.Query().Where(user.Name(name)).OnlyIDX(ctx)
		}
		for name, upsert := range map[string]func(string) (shopid.UserID, error){
			"UpdateNewValues": func(name string) (shopid.UserID, error) {
				return create(name).OnConflictColumns("name").UpdateNewValues().ID(ctx)
			},
			"Ignore": func(name string) (shopid.UserID, error) {
				return create(name).OnConflictColumns("name").Ignore().ID(ctx)
			},
			"Update": func(name string) (shopid.UserID, error) {
				return create(name).OnConflictColumns("name").Update(func(u *ent.UserUpsert) {
					u.UpdateVisits()
				}).ID(ctx)
			},
		} {
			if id, err := upsert("Ann"); err != nil || id != ann.ID || stored("Ann") != ann.ID {
				t.Errorf("%s: Ann is %v, %v", name, id, err)
			}
			if id, err := upsert(name); err != nil || id == ann.ID || id != stored(name) {
				t.Errorf("%s: the new row is %v, %v", name, id, err)
			}
		}
		_, err := create("Ann").OnConflictColumns("name").DoNothing().ID(ctx)
		if !errors.Is(err, sql.ErrNoRows) {
			t.Errorf("DoNothing: %v", err)
		}
		if id, err := create("Eve").OnConflictColumns("name").DoNothing().ID(ctx); err != nil ||
			id != stored("Eve") {
			t.Errorf("DoNothing: the new row is %v, %v", id, err)
		}
		if err := create("Ann").OnConflict(entsql.ConflictColumns("name"), newValues()).
			Exec(ctx); !errors.Is(err, entid.ErrRewrites) {
			t.Errorf("ResolveWithNewValues: %v", err)
		}
		err = create("Ann").OnConflictColumns("name").Update(func(u *ent.UserUpsert) {
			u.Set("id", shopid.UserID(80_000_000_001))
		}).Exec(ctx)
		if !errors.Is(err, entid.ErrRewrites) {
			t.Errorf("Set: %v", err)
		}
	})
}

func TestEntUpsertsInBulk(t *testing.T) {
	inEnt(t, func(t *testing.T, client *ent.Client, _ *sql.DB) {
		ctx := t.Context()
		useHook(t, client, entid.Use(newDecimal(t)))
		ann := client.User.Create().SetName("Ann").SaveX(ctx)
		create := func(c *ent.Client, names ...string) *ent.UserCreateBulk {
			var all []*ent.UserCreate
			for _, name := range names {
				all = append(all, c.User.Create().SetName(name))
			}
			return c.User.CreateBulk(all...)
		}
		tx, err := client.BeginTx(ctx, nil)
		try(t, err)
		defer tx.Rollback()
		c := tx.Client()
		if err := create(c, "Ann", "Eve").OnConflict(entsql.ConflictColumns("name"), newValues()).
			Exec(ctx); !errors.Is(err, entid.ErrRewrites) {
			t.Errorf("ResolveWithNewValues: %v", err)
		}
		if err := create(c, "Bob", "Ann", "Cem").OnConflictColumns("name").UpdateNewValues().
			Exec(ctx); err != nil {
			t.Fatal(err)
		}
		if err := create(c, "Ann", "Dan").OnConflictColumns("name").DoNothing().
			Exec(ctx); err != nil {
			t.Fatal(err)
		}
		try(t, tx.Commit())
		names := client.User.Query().Order(user.ByID()).Select(user.FieldName).StringsX(ctx)
		if strings.Join(names, " ") != "Ann Bob Cem Dan" {
			t.Errorf("the users are %v", names)
		}
		if id := client.User.Query().Where(user.Name("Ann")).OnlyIDX(ctx); id != ann.ID {
			t.Errorf("Ann is %v, was %v", id, ann.ID)
		}
	})
}

// What ent alone does: why the guard refuses.
func TestEntAloneRewrites(t *testing.T) {
	everywhere(t, func(t *testing.T, d sqlid.Dialect, db *sql.DB) {
		ctx := t.Context()
		client := ent.NewClient(ent.Driver(entsql.OpenDB(entDialect(d), db)))
		// A second migration finds nothing to change.
		for range 2 {
			try(t, client.Schema.Create(ctx))
		}
		useHook(t, client, entid.Use(newDecimal(t)))
		ann := client.User.Create().SetName("Ann").SaveX(ctx)
		err := client.User.Create().SetName("Ann").
			OnConflict(entsql.ConflictColumns("name"), newValues()).Exec(ctx)
		if err != nil || client.User.Query().Where(user.Name("Ann")).OnlyIDX(ctx) == ann.ID {
			t.Errorf("ent alone does otherwise now: %v", err)
		}
	})
}

// Fields of all schemes, in all forms, by the parts of ent that generated code calls.
func TestEntSchemes(t *testing.T) {
	everywhere(t, func(t *testing.T, d sqlid.Dialect, db *sql.DB) {
		testEntScheme(t, d, db, "decimal", idtype.MustParse[idtype.DecimalID])
		testEntScheme(t, d, db, "sequence", idtype.MustParse[idtype.SequenceID])
		testEntScheme(t, d, db, "trace", idtype.MustParse[idtype.TraceID])
		testEntScheme(t, d, db, "short", idtype.MustParse[idtype.ShortID])
		testEntScheme(t, d, db, "snowflake", idtype.MustParse[idtype.SnowflakeID])
		testEntScheme(t, d, db, "eightbyte", idtype.MustParse[idtype.EightByteID])
		testEntScheme(t, d, db, "eightbyte",
			idtype.MustParse[idtype.EightByte[idtype.AsBigint[any]]])
		testEntScheme(t, d, db, "sno", idtype.MustParse[idtype.SnoID])
		testEntScheme(t, d, db, "sno", idtype.MustParse[idtype.Sno[idtype.AsText[any]]])
		testEntScheme(t, d, db, "sno", idtype.MustParse[idtype.Sno[idtype.AsUUID[any]]])
		testEntScheme(t, d, db, "uuid7", idtype.MustParse[idtype.UUID7ID])
		testEntScheme(t, d, db, "uuid7", idtype.MustParse[idtype.UUID7[idtype.AsBytes[any]]])
	})
}

func testEntScheme[T idtype.ID](
	t *testing.T, d sqlid.Dialect, db *sql.DB, scheme string, parse func(string) T,
) {
	var zero T
	table := fmt.Sprintf("%s_%s", scheme, zero.Storage())
	t.Run(table, func(t *testing.T) {
		var ids []T
		for _, text := range texts[scheme] {
			ids = append(ids, parse(text))
		}
		key := entid.Key[T]("example.com/ids.ID").Descriptor()
		ref := entid.Of[T]("ref", "example.com/ids.ID").Optional().Descriptor()
		if key.Err != nil || ref.Err != nil {
			t.Fatal(key.Err, ref.Err)
		}
		drv := entid.Guard(entsql.OpenDB(entDialect(d), db))
		columns := []*schema.Column{
			{Name: "id", Type: key.Info.Type, SchemaType: key.SchemaType},
			{Name: "ref", Type: ref.Info.Type, SchemaType: ref.SchemaType, Nullable: true},
		}
		migrate, err := schema.NewMigrate(drv)
		try(t, err)
		if err := migrate.Create(t.Context(), &schema.Table{
			Name: table, Columns: columns, PrimaryKey: columns[:1],
		}); err != nil {
			t.Fatal(err)
		}
		checkColumns(t, d, db, table, zero.Storage())
		for i, id := range ids {
			spec := sqlgraph.NewCreateSpec(table, sqlgraph.NewFieldSpec("id", key.Info.Type))
			spec.ID.Value = &id
			if i > 0 {
				spec.SetField("ref", ref.Info.Type, ids[i-1])
			}
			try(t, sqlgraph.CreateNode(t.Context(), drv, spec))
		}
		rows, err := db.QueryContext(t.Context(), "SELECT id, ref FROM "+table+" ORDER BY id")
		try(t, err)
		defer rows.Close()
		n := 0
		for ; rows.Next(); n++ {
			var id T
			var ref sql.Null[T]
			if err := rows.Scan(&id, &ref); err != nil || id != ids[n] || ref.Valid != (n > 0) ||
				n > 0 && ref.V != ids[n-1] {
				t.Errorf("row %d is %v, %v: %v", n, id, ref, err)
			}
		}
		if err := rows.Err(); err != nil || n != len(ids) {
			t.Errorf("%d rows, %v", n, err)
		}
		_, err = db.ExecContext(t.Context(), "INSERT INTO "+table+" (ref) SELECT ref FROM "+table)
		if err == nil {
			t.Error("rows without keys were stored")
		}
	})
}

// The annotation makes a migration refuse IDs of launch 0 as keys.
func TestEntRefusesTestIDs(t *testing.T) {
	everywhere(t, func(t *testing.T, d sqlid.Dialect, db *sql.DB) {
		key := entid.Key[idtype.DecimalID]("example.com/ids.ID").Descriptor()
		annotation := entid.RefuseTestIDs[idtype.DecimalID]().(entsqlschema.Annotation)
		columns := []*schema.Column{{Name: "id", Type: key.Info.Type, SchemaType: key.SchemaType}}
		migrate, err := schema.NewMigrate(entsql.OpenDB(entDialect(d), db))
		try(t, err)
		try(t, migrate.Create(t.Context(), &schema.Table{
			Name: "ledger", Columns: columns, PrimaryKey: columns, Annotation: &annotation,
		}))
		if _, err := db.Exec("INSERT INTO ledger (id) VALUES (10000000000)"); err == nil {
			t.Error("a test ID was stored")
		}
		_, err = db.Exec("INSERT INTO ledger (id) VALUES (10000000001)")
		try(t, err)
	})
	if a := entid.RefuseTestIDs[idtype.SnoID]().(entsqlschema.Annotation); len(a.Checks) != 0 {
		t.Errorf("sno IDs have no test IDs, and %v", a)
	}
}
