//require github.com/pashagolub/pgxmock/v4 v4.9.0

package main

import (
	"context"

	"github.com/pashagolub/pgxmock/v4"

	"github.com/idmint/idmint/generator"
)

func companion(ctx context.Context, ids *generator.Decimal) {
	mock := must(pgxmock.NewPool())
	id := UserID(must(ids.Next(ctx)))
	mock.ExpectExec("DELETE FROM users").WithArgs(id).WillReturnResult(pgxmock.NewResult("DELETE", 1))
	must(mock.Exec(ctx, "DELETE FROM users WHERE id = $1", id))
	check(mock.ExpectationsWereMet())
}
