// Package keys has the shop's key types, which the generated code of all databases uses.
package keys

import "github.com/idmint/idmint/idtype"

// The entities. A key of one is not a key of another.
type (
	User  struct{}
	Order struct{}
	Event struct{}
)

type (
	UserID  = idtype.Decimal[User]
	OrderID = idtype.Decimal[Order]
	EventID = idtype.Sno[Event]
)
