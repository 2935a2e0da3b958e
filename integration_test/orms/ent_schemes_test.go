package orms

import (
	"database/sql"
	"fmt"
	"testing"

	entsql "entgo.io/ent/dialect/sql"
	"entgo.io/ent/dialect/sql/schema"
	"entgo.io/ent/dialect/sql/sqlgraph"

	"github.com/idmint/idmint/entid"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/sqlid"
)

// Fields of all schemes, in all forms, by the parts of ent that generated code calls.
func TestEntSchemes(t *testing.T) {
	everywhere(t, func(t *testing.T, d sqlid.Dialect, db *sql.DB) {
		testEntScheme(t, d, db, "decimal", idtype.MustParse[idtype.DecimalID])
		testEntScheme(t, d, db, "sequence", idtype.MustParse[idtype.SequenceID])
		testEntScheme(t, d, db, "trace", idtype.MustParse[idtype.TraceID])
		testEntScheme(t, d, db, "short", idtype.MustParse[idtype.ShortID])
		testEntScheme(t, d, db, "eightbyte", idtype.MustParse[idtype.EightByteID])
		testEntScheme(t, d, db, "eightbyte",
			idtype.MustParse[idtype.EightByte[idtype.AsBigint[any]]])
		testEntScheme(t, d, db, "sno", idtype.MustParse[idtype.SnoID])
		testEntScheme(t, d, db, "sno", idtype.MustParse[idtype.Sno[idtype.AsText[any]]])
		testEntScheme(t, d, db, "sno", idtype.MustParse[idtype.Sno[idtype.AsUUID[any]]])
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
