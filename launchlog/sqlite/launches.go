package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/rows"
)

const now = `strftime('%Y-%m-%dT%H:%M:%fZ', 'now')`

// words are those of SQLite. Times are stored as text. The statements that make a row are no
// upserts, because the triggers that keep REPLACE off cannot tell an upsert from it.
var words = rows.Words{
	Time: `$`, Now: now, Is: `IS`,
	MakeNamespace: `INSERT INTO idmint_namespace (namespace) SELECT ?1
		WHERE NOT EXISTS (SELECT 1 FROM idmint_namespace WHERE namespace = ?1)`,
	MakeCounter: `INSERT INTO idmint_counter (namespace, name, value) SELECT ?1, ?2, 0
		WHERE NOT EXISTS (SELECT 1 FROM idmint_counter WHERE namespace = ?1 AND name = ?2)`,
}

const (
	claimByToken = `SELECT ` + rows.Claim + ` FROM idmint_generator WHERE token = ?`
	nextNumber   = `UPDATE idmint_launch SET next_generator_id = next_generator_id + 1
		WHERE namespace = ? AND launch_id = ? AND ended_at IS NULL AND next_generator_id < ?
		RETURNING next_generator_id - 1`
	insertClaim = `INSERT INTO idmint_generator
		(namespace, launch_id, generator_id, token, host, pid)
		VALUES (?, ?, ?, ?, ?, ?) RETURNING ` + rows.Claim
	// takeNumbers finds no row where there is no counter yet, and where it has too few numbers
	// left: SQLite's sums do not wrap, but turn into floating point.
	takeNumbers = `UPDATE idmint_counter
		SET value = max(value, ?3 - 1) + ?4, updated_at = ` + now + `, note = '', holder = ''
		WHERE namespace = ?1 AND name = ?2 AND max(value, ?3 - 1) <= 9223372036854775807 - ?4
		RETURNING value - ?4 + 1`
)

func (s *Store) newSteps() {
	s.rowSteps = rows.NewSteps(words, rows.Own{
		Write: s.write, Race: s.write, Read: s.read,
		ByToken: func(ctx context.Context, tx rows.Tx, token string) (launchlog.Claim, error) {
			return rows.ScanClaim(prepared(ctx, tx, s.byToken).QueryRowContext(ctx, token))
		},
		TakeGenerator: s.takeGenerator, TakeNumbers: s.takeCounter,
	})
}

func (s *Store) takeGenerator(
	ctx context.Context, tx rows.Tx, t launchlog.Take,
) (c launchlog.Claim, taken bool, err error) {
	number, taken, err := scanTaken[int](prepared(ctx, tx, s.nextGenerator).QueryRowContext(ctx,
		t.Namespace, t.Launch, launchlog.MaxGenerators))
	if err == nil && taken {
		c, err = rows.ScanClaim(prepared(ctx, tx, s.insertClaim).QueryRowContext(ctx,
			t.Namespace, t.Launch, number, t.Token, t.Host, t.PID))
	}
	return c, taken, err
}

func (s *Store) takeCounter(
	ctx context.Context, tx rows.Tx, ref launchlog.CounterRef, floor, n int64,
) (first int64, taken bool, err error) {
	return scanTaken[int64](prepared(ctx, tx, s.nextNumbers).QueryRowContext(ctx,
		ref.Namespace, ref.Name, floor, n))
}

func prepared(ctx context.Context, tx rows.Tx, stmt *sql.Stmt) *sql.Stmt {
	return tx.(*sql.Tx).StmtContext(ctx, stmt)
}

// scanTaken scans what an UPDATE returns, if it found its row.
func scanTaken[T any](row *sql.Row) (v T, ok bool, err error) {
	err = row.Scan(&v)
	if errors.Is(err, sql.ErrNoRows) {
		return v, false, nil
	}
	return v, err == nil, err
}
