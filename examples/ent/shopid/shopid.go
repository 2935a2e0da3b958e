// Package shopid has the key types of the shop. It is a package of its own, because ent's schemas and
// the code that ent generates of them both use it. Its name is not ids: generated code has variables
// of that name.
package shopid

import "github.com/idmint/idmint/idtype"

type (
	user  struct{}
	order struct{}
)

// The keys.
type (
	UserID  = idtype.Decimal[user]
	OrderID = idtype.Decimal[order]
)
