package mysql

import (
	"context"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/rows"
)

// words are those of MySQL and MariaDB.
var words = rows.Words{
	Time: `date_format($, '%Y-%m-%dT%H:%i:%s.%fZ')`,
	Now:  `utc_timestamp(6)`, Lock: ` FOR UPDATE`, Is: `<=>`,
	MakeNamespace: `INSERT INTO idmint_namespace (namespace) VALUES (?)
		ON DUPLICATE KEY UPDATE namespace = namespace`,
	MakeCounter: `INSERT INTO idmint_counter (namespace, name, value) VALUES (?, ?, 0)
		ON DUPLICATE KEY UPDATE name = name`,
}

const (
	thisLaunch = ` WHERE namespace = ? AND launch_id = ?`
	nextNumber = `UPDATE idmint_launch
		SET next_generator_id = next_generator_id + 1` + thisLaunch + `
		AND ended_at IS NULL AND next_generator_id < ?`
	insertClaim = `INSERT INTO idmint_generator
		(namespace, launch_id, generator_id, token, host, pid)
		SELECT namespace, launch_id, next_generator_id - 1, ?, ?, ? FROM idmint_launch` + thisLaunch
	takeNumbers = `UPDATE idmint_counter
		SET value = greatest(value, ? - 1) + ?, updated_at = utc_timestamp(6), note = '', holder = ''
		WHERE namespace = ? AND name = ? AND greatest(value, ? - 1) <= 9223372036854775807 - ?`
	selectValue = `SELECT value FROM idmint_counter WHERE namespace = ? AND name = ?`
)

var selectClaim = `SELECT ` + rows.Times(rows.Claim, words.Time) + `
	FROM idmint_generator WHERE token = ?`

// newSteps makes the store's steps. After an UPDATE a step reads the row again, which is locked:
// last_insert_id(…) would not do. MariaDB does not hand it back for an UPDATE that fires triggers,
// and keeps an older one where no row was updated.
func (s *Store) newSteps() {
	s.steps = rows.NewSteps(words, rows.Own{
		Write: s.write, Race: s.raced, Read: s.read,
		ByToken:       byToken,
		TakeGenerator: takeGenerator, TakeNumbers: takeCounter,
	})
}

func takeGenerator(
	ctx context.Context, tx rows.Tx, t launchlog.Take,
) (c launchlog.Claim, taken bool, err error) {
	taken, err = rows.Update(ctx, tx, nextNumber, t.Namespace, t.Launch, launchlog.MaxGenerators)
	if err != nil || !taken {
		return c, false, err
	}
	err = rows.Change(ctx, tx, insertClaim, t.Token, t.Host, t.PID, t.Namespace, t.Launch)
	if err == nil {
		c, err = byToken(ctx, tx, t.Token)
	}
	return c, true, err
}

func takeCounter(
	ctx context.Context, tx rows.Tx, ref launchlog.CounterRef, floor, n int64,
) (first int64, taken bool, err error) {
	taken, err = rows.Update(ctx, tx, takeNumbers, floor, n, ref.Namespace, ref.Name, floor, n)
	if err != nil || !taken {
		return 0, false, err
	}
	row := tx.QueryRowContext(ctx, selectValue, ref.Namespace, ref.Name)
	value, err := rows.ScanOne[int64](row)
	return value - n + 1, true, err
}

func byToken(ctx context.Context, tx rows.Tx, token string) (launchlog.Claim, error) {
	return rows.ScanClaim(tx.QueryRowContext(ctx, selectClaim, token))
}

// tries bounds how often a step is run again at once where another process came in between.
const tries = 3

// raced runs a step again where another process made its row first, to find that.
func (s *Store) raced(ctx context.Context, step rows.Step) (v any, err error) {
	for range tries {
		if v, err = s.write(ctx, step); !lostRace(err) {
			return v, err
		}
	}
	return nil, &launchlog.AttemptError{Err: err}
}
