package idtype_test

import (
	"database/sql"

	"github.com/idmint/idmint/idtype"
)

// A compiler of Go crashes on a struct that points to its own key by its alias, where the alias is
// used before. docs/versions.md has the way round: this compiles, as lint shows with the oldest Go.
type (
	recursiveOrder struct {
		BuyerID buyerID
		Buyer   buyer
	}

	buyerID = idtype.Decimal[buyer]

	buyer struct {
		ID      buyerID
		BossID  *idtype.Decimal[buyer]
		Former  sql.Null[idtype.Decimal[buyer]]
		Friends idtype.Slice[idtype.Decimal[buyer]]
		Orders  []*recursiveOrder
	}
)

var _ = recursiveOrder{Buyer: buyer{BossID: new(buyerID)}}
