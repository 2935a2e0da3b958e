package postgres

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/detail"
	"github.com/idmint/idmint/launchlog/internal/rows"
)

// tries is how often a step is sent at once when other processes interfere.
const tries = 3

// StartLaunch implements launchlog.Store.
func (s *Store) StartLaunch(ctx context.Context, start launchlog.Launch) (launchlog.Launch, error) {
	values := rows.StartValues(start)
	host := len(values) - 1
	values = append(values[:host:host], start.KnownLaunch, launchlog.MaxGenerators, launchlog.Lap,
		string(launchlog.HandedOn), values[host], string(launchlog.Advanced))
	none := error(rows.ErrRaced)
	for range tries {
		var there *launchlog.Launch
		var last *int
		err := s.write(ctx, func(b *pgx.Batch) {
			b.Queue(s.makeNamespace, start.Namespace)
			b.Queue(s.lockStart, start.Namespace, start.Key)
			b.Queue(s.startLaunch, values...)
			one(b, &last, rows.ScanOne[int], s.lastLaunch, start.Namespace)
			one(b, &there, rows.ScanLaunch, s.launchByKey, start.Namespace, start.Key)
		})
		if err == nil && last != nil {
			err = rows.Behind(start, *last)
		}
		switch {
		case lostRace(err): // try again to find the other process's row
			continue
		case err != nil:
			return launchlog.Launch{}, s.ahead(ctx, launchlog.Ref{Namespace: start.Namespace}, err)
		case there != nil:
			return *there, nil
		case last == nil:
			return launchlog.Launch{}, errHidden
		}
		// No number is left, unless a claim has just taken the last one.
		none = launchlog.ErrLaunchesExhausted
	}
	return launchlog.Launch{}, none
}

// Digits implements launchlog.Store.
func (s *Store) Digits(ctx context.Context, namespace string) (launchlog.Digits, error) {
	found, err := list(ctx, s, scanDigits, s.digits, namespace)
	if err != nil || len(found) == 0 {
		return launchlog.AllDigits, err
	}
	return found[0], nil
}

func scanDigits(r rows.Row) (d launchlog.Digits, err error) {
	err = r.Scan(&d.First, &d.Last)
	return d, err
}

// SetDigits implements launchlog.Store.
func (s *Store) SetDigits(
	ctx context.Context, namespace string, digits launchlog.Digits,
) (launchlog.Digits, error) {
	var is *launchlog.Digits
	err := s.write(ctx, func(b *pgx.Batch) {
		b.Queue(s.makeNamespace, namespace)
		b.Queue(s.setDigits, namespace, digits.First, digits.Last)
		one(b, &is, scanDigits, s.digits, namespace)
	})
	switch {
	case err != nil:
		return launchlog.Digits{}, err
	case is == nil:
		return launchlog.Digits{}, errHidden
	}
	return *is, nil
}

// EndLaunch implements launchlog.Store.
func (s *Store) EndLaunch(
	ctx context.Context, ref launchlog.Ref, ending launchlog.Ending,
) (launchlog.Launch, error) {
	var there, ended *launchlog.Launch
	err := s.write(ctx, func(b *pgx.Batch) {
		one(b, &there, rows.ScanLaunch, s.lockLaunch, ref.Namespace, ref.Launch)
		one(b, &ended, rows.ScanLaunch, s.endLaunch, ref.Namespace, ref.Launch,
			string(ending.Outcome), ending.Actor, rows.Text(detail.Ended(ending)))
	})
	switch {
	case err != nil:
		return launchlog.Launch{}, err
	case ended != nil:
		return *ended, nil
	case there != nil:
		return *there, nil
	}
	return launchlog.Launch{}, launchlog.ErrNotFound
}

// ClaimGenerator implements launchlog.Store.
func (s *Store) ClaimGenerator(ctx context.Context, take launchlog.Claim) (launchlog.Claim, error) {
	ref := launchlog.Ref{Namespace: take.Namespace, Launch: take.Launch}
	for range tries {
		var there *launchlog.Claim
		err := s.write(ctx, func(b *pgx.Batch) {
			b.Queue(s.takeNumber, take.Namespace, take.Launch, launchlog.MaxGenerators,
				take.Token, take.Host, take.PID)
			one(b, &there, rows.ScanClaim, s.claimByToken, take.Token)
		})
		err = s.ahead(ctx, ref, err)
		switch {
		case lostRace(err): // try again to find the other process's row
			continue
		case err != nil:
			return launchlog.Claim{}, err
		case there != nil:
			return *there, nil
		}
		launch, err := s.Launch(ctx, ref) // to learn why there was no number
		if err != nil {
			return launchlog.Claim{}, err
		}
		if err := rows.NoNumber(launch); err != error(rows.ErrRaced) {
			return launchlog.Claim{}, err
		}
	}
	return launchlog.Claim{}, rows.ErrRaced
}

// ahead explains the error of a step whose row existed already, if the rows contradict each other.
func (s *Store) ahead(ctx context.Context, ref launchlog.Ref, err error) error {
	var server *pgconn.PgError
	if !errors.As(err, &server) || server.ConstraintName != "idmint_launch_pkey" &&
		server.ConstraintName != "idmint_generator_pkey" {
		return err
	}
	return rows.Ahead(ref, tables(s.schema), err, func(text string, args ...any) ([][2]int, error) {
		text = strings.Replace(strings.Replace(text, "?", "$1", 1), "?", "$2", 1)
		return list(ctx, s, rows.ScanPair, text, args...)
	})
}

// AdvanceLaunches implements launchlog.Store.
func (s *Store) AdvanceLaunches(
	ctx context.Context, namespace string, last int, ending launchlog.Ending,
) (now, finished int, err error) {
	var was *int
	err = s.write(ctx, func(b *pgx.Batch) {
		b.Queue(s.makeNamespace, namespace)
		one(b, &was, rows.ScanOne[int], s.lockLast, namespace)
		b.Queue(s.endRunning, namespace, last,
			string(ending.Outcome), ending.Actor, rows.Text(detail.Ended(ending)))
		b.Queue(s.raiseLast, namespace, last, ending.Actor)
	})
	switch {
	case err != nil:
		return 0, 0, err
	case was == nil:
		return 0, 0, errHidden
	}
	return max(*was, last), 0, nil
}

// Launch implements launchlog.Store.
func (s *Store) Launch(ctx context.Context, ref launchlog.Ref) (launchlog.Launch, error) {
	found, err := list(ctx, s, rows.ScanLaunch, s.oneLaunch, ref.Namespace, ref.Launch)
	if err != nil {
		return launchlog.Launch{}, err
	}
	if len(found) == 0 {
		return launchlog.Launch{}, launchlog.ErrNotFound
	}
	return found[0], nil
}

// Launches implements launchlog.Store.
func (s *Store) Launches(
	ctx context.Context, namespace string, f launchlog.Filter,
) ([]launchlog.Launch, error) {
	return list(ctx, s, rows.ScanLaunch, s.launches,
		namespace, f.Service, f.Environment, f.Running, f.Before, f.Limit)
}

// Events implements launchlog.Store.
func (s *Store) Events(ctx context.Context, ref launchlog.Ref) ([]launchlog.Event, error) {
	return list(ctx, s, rows.ScanEvent, s.events, ref.Namespace, ref.Launch)
}

// Claims implements launchlog.Store.
func (s *Store) Claims(
	ctx context.Context, ref launchlog.Ref, from, limit int,
) ([]launchlog.Claim, error) {
	return list(ctx, s, rows.ScanClaim, s.claims, ref.Namespace, ref.Launch, from, limit)
}

// TrimClaims implements launchlog.Store.
func (s *Store) TrimClaims(ctx context.Context, ref launchlog.Ref, below int) error {
	return s.write(ctx, func(b *pgx.Batch) { b.Queue(s.trim, ref.Namespace, ref.Launch, below) })
}
