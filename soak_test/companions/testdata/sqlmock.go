//require github.com/DATA-DOG/go-sqlmock v1.5.2

package main

import (
	"context"

	"github.com/DATA-DOG/go-sqlmock"

	"github.com/idmint/idmint/generator"
)

func companion(ctx context.Context, ids *generator.Decimal) {
	db, mock, err := sqlmock.New()
	check(err)
	id := UserID(must(ids.Next(ctx)))
	mock.ExpectExec("DELETE FROM users").WithArgs(id).WillReturnResult(sqlmock.NewResult(0, 1))
	must(db.ExecContext(ctx, "DELETE FROM users WHERE id = ?", id))
	check(mock.ExpectationsWereMet())
}
