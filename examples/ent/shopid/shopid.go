// Package shopid has the key types of the shop. It is a separate package, because both ent's
// schemas and the code that ent generates from them import it. It is not named ids, because
// generated code has variables of that name.
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
