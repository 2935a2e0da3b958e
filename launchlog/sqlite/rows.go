package sqlite

import (
	"context"
	"database/sql"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/rows"
)

const selectLaunch = `SELECT ` + rows.Launch + ` FROM idmint_launch`

type querier interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
}

func oneLaunch(ctx context.Context, q querier, ref launchlog.Ref) (launchlog.Launch, error) {
	l, err := rows.ScanLaunch(q.QueryRowContext(ctx, selectLaunch+` WHERE namespace = ? AND launch_id = ?`, ref.Namespace, ref.Launch))
	return l, rows.NotFound(err, sql.ErrNoRows)
}

func addEvent(ctx context.Context, tx *sql.Tx, e launchlog.Event) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO idmint_launch_event (namespace, launch_id, kind, actor, detail) VALUES (?, ?, ?, ?, ?)`,
		e.Namespace, rows.OrNull(e.Launch, e.Launch == 0), e.Kind, e.Actor, rows.Text(e.Detail))
	return err
}
