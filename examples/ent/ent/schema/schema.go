// Package schema defines the entities from which ent generates code.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"

	"github.com/idmint/idmint/entid"
	"github.com/idmint/idmint/examples/ent/shopid"
)

// User is a customer.
type User struct{ ent.Schema }

func (User) Fields() []ent.Field {
	return []ent.Field{
		entid.Key[shopid.UserID]("UserID"),
		field.String("name").Unique(),
		field.Int("visits").Default(0),
	}
}

func (User) Edges() []ent.Edge {
	return []ent.Edge{edge.To("orders", Order.Type)}
}

// Order is an order of a user, which another user may have approved.
type Order struct{ ent.Schema }

func (Order) Fields() []ent.Field {
	return []ent.Field{
		entid.Key[shopid.OrderID]("OrderID"),
		entid.Of[shopid.UserID]("user_id", "UserID"),
		entid.Of[shopid.UserID]("approver_id", "UserID").Optional().Nillable(),
	}
}

func (Order) Edges() []ent.Edge {
	return []ent.Edge{
		edge.From("user", User.Type).Ref("orders").Field("user_id").Unique().Required(),
		edge.To("approver", User.Type).Field("approver_id").Unique(),
	}
}
