package rows

import (
	"context"
	"database/sql"
	"errors"

	"github.com/idmint/idmint/internal/dialect"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/detail"
)

// StartLaunch implements launchlog.Store.
func (s *Steps) StartLaunch(ctx context.Context, start launchlog.Launch) (launchlog.Launch, error) {
	step := func(ctx context.Context, tx Tx) (any, error) {
		last, err := ScanOne[int](tx.QueryRowContext(ctx, s.lastLaunch, start.Namespace))
		none := errors.Is(err, sql.ErrNoRows)
		if err != nil && !none {
			return nil, err
		}
		if err := Behind(start, last); err != nil {
			return nil, err
		}
		if none {
			if err := run(ctx, tx, s.makeNamespace, start.Namespace); err != nil {
				return nil, err
			}
		}
		launch, err := s.byKey(ctx, tx, start)
		if !errors.Is(err, sql.ErrNoRows) {
			return launch, err
		}
		id, first, err := s.next(ctx, tx, start)
		if err != nil {
			return nil, err
		}
		if err := run(ctx, tx, s.setLast, id, start.Namespace); err != nil {
			return nil, err
		}
		err = run(ctx, tx, s.insertLaunch, append(StartValues(start), id, first, first)...)
		if err != nil {
			return nil, err
		}
		if launch, err = s.byKey(ctx, tx, start); err != nil {
			return nil, err
		}
		return launch, s.addEvent(ctx, tx, launchlog.Event{
			Namespace: start.Namespace, Launch: launch.ID, Kind: "started", Actor: start.Initiator,
		})
	}
	launch, err := result[launchlog.Launch](s.write(ctx, step))
	return launch, s.ahead(ctx, launchlog.Ref{Namespace: start.Namespace}, err)
}

// next returns the number of the next launch and its first generator number. It ends the launch that
// had these digits before.
func (s *Steps) next(
	ctx context.Context, tx Tx, start launchlog.Launch,
) (id, first int, err error) {
	is, err := scanDigits(tx.QueryRowContext(ctx, s.lockDigits, start.Namespace))
	if err != nil {
		return 0, 0, err
	}
	if id, ok := is.Next(is.last); ok {
		return id, 0, nil
	}
	from, err := ScanLaunch(tx.QueryRowContext(ctx, s.passing, start.Namespace,
		is.last-launchlog.Lap, launchlog.MaxGenerators, string(launchlog.Advanced)))
	if errors.Is(err, sql.ErrNoRows) {
		err = launchlog.ErrLaunchesExhausted
	}
	if err != nil {
		return 0, 0, err
	}
	id = from.ID + launchlog.Lap
	if from.Running() {
		ref := launchlog.Ref{Namespace: start.Namespace, Launch: from.ID}
		err = s.end(ctx, tx, ref, detail.HandingOn(id, start.Initiator))
	}
	return id, from.NextGenerator, err
}

// A digitsRow holds the range of digits of a namespace, and its last launch.
type digitsRow struct {
	launchlog.Digits
	last int
}

func scanDigits(r Row) (d digitsRow, err error) {
	err = r.Scan(&d.last, &d.First, &d.Last)
	return d, err
}

// Digits implements launchlog.Store.
func (s *Steps) Digits(ctx context.Context, namespace string) (launchlog.Digits, error) {
	found, err := list(ctx, s, scanDigits, s.digits, namespace)
	if err != nil || len(found) == 0 {
		return launchlog.AllDigits, err
	}
	return found[0].Digits, nil
}

// SetDigits implements launchlog.Store.
func (s *Steps) SetDigits(
	ctx context.Context, namespace string, digits launchlog.Digits,
) (launchlog.Digits, error) {
	return result[launchlog.Digits](s.write(ctx, func(ctx context.Context, tx Tx) (any, error) {
		if err := ensure(ctx, tx, s.lastLaunch, s.makeNamespace, namespace); err != nil {
			return nil, err
		}
		is, err := scanDigits(tx.QueryRowContext(ctx, s.lockDigits, namespace))
		if err != nil || !is.Allow(digits, is.last) {
			return is.Digits, err
		}
		return digits, run(ctx, tx, s.setDigits, digits.First, digits.Last, namespace)
	}))
}

func (s *Steps) byKey(ctx context.Context, tx Tx, l launchlog.Launch) (launchlog.Launch, error) {
	return ScanLaunch(tx.QueryRowContext(ctx, s.launchByKey, l.Namespace, l.Key))
}

// launch returns one launch, found by text, which is s.oneLaunch or s.lockLaunch.
func (s *Steps) launch(
	ctx context.Context, tx Tx, text string, ref launchlog.Ref,
) (launchlog.Launch, error) {
	l, err := ScanLaunch(tx.QueryRowContext(ctx, text, ref.Namespace, ref.Launch))
	if errors.Is(err, sql.ErrNoRows) {
		err = launchlog.ErrNotFound
	}
	return l, err
}

func (s *Steps) addEvent(ctx context.Context, tx Tx, e launchlog.Event) error {
	return run(ctx, tx, s.insertEvent,
		e.Namespace, OrNull(e.Launch, e.Launch == 0), e.Kind, e.Actor, Text(e.Detail))
}

// EndLaunch implements launchlog.Store.
func (s *Steps) EndLaunch(
	ctx context.Context, ref launchlog.Ref, ending launchlog.Ending,
) (launchlog.Launch, error) {
	step := func(ctx context.Context, tx Tx) (any, error) {
		launch, err := s.launch(ctx, tx, s.lockLaunch, ref)
		if err != nil || !launch.Running() {
			return launch, err
		}
		if err := s.end(ctx, tx, ref, ending); err != nil {
			return nil, err
		}
		return s.launch(ctx, tx, s.oneLaunch, ref)
	}
	return result[launchlog.Launch](s.write(ctx, step))
}

func (s *Steps) end(ctx context.Context, tx Tx, ref launchlog.Ref, ending launchlog.Ending) error {
	outcome := string(ending.Outcome)
	if err := run(ctx, tx, s.endLaunch, outcome, ref.Namespace, ref.Launch); err != nil {
		return err
	}
	return s.addEvent(ctx, tx, launchlog.Event{
		Namespace: ref.Namespace, Launch: ref.Launch, Kind: "ended",
		Actor: ending.Actor, Detail: detail.Ended(ending),
	})
}

// ClaimGenerator implements launchlog.Store.
func (s *Steps) ClaimGenerator(ctx context.Context, take launchlog.Claim) (launchlog.Claim, error) {
	ref := launchlog.Ref{Namespace: take.Namespace, Launch: take.Launch}
	step := func(ctx context.Context, tx Tx) (any, error) {
		claim, err := ScanClaim(tx.QueryRowContext(ctx, s.claimByToken, take.Token))
		if !errors.Is(err, sql.ErrNoRows) {
			return claim, err
		}
		taken, err := Update(ctx, tx, s.nextNumber,
			take.Namespace, take.Launch, launchlog.MaxGenerators)
		if err != nil {
			return nil, err
		}
		if !taken {
			launch, err := s.launch(ctx, tx, s.oneLaunch, ref) // tells why there was none to take
			if err == nil {
				err = NoNumber(launch)
			}
			return nil, err
		}
		err = run(ctx, tx, s.insertClaim,
			take.Token, take.Host, take.PID, take.Namespace, take.Launch)
		if err != nil {
			return nil, err
		}
		return ScanClaim(tx.QueryRowContext(ctx, s.claimByToken, take.Token))
	}
	claim, err := result[launchlog.Claim](s.write(ctx, step))
	return claim, s.ahead(ctx, ref, err)
}

// ahead explains the error of a step whose row already exists, by rows that contradict each other.
func (s *Steps) ahead(ctx context.Context, ref launchlog.Ref, err error) error {
	_, cause := dialect.CauseOf(err)
	if cause != dialect.Guarded && dialect.MySQLNumber(err) != duplicate {
		return err
	}
	return Ahead(ref, s.tables, err, func(text string, args ...any) ([][2]int, error) {
		return list(ctx, s, ScanPair, text, args...)
	})
}

// AdvanceLaunches implements launchlog.Store.
func (s *Steps) AdvanceLaunches(
	ctx context.Context, namespace string, last int, ending launchlog.Ending,
) (now, finished int, err error) {
	now, err = result[int](s.write(ctx, func(ctx context.Context, tx Tx) (any, error) {
		if err := ensure(ctx, tx, s.lastLaunch, s.makeNamespace, namespace); err != nil {
			return nil, err
		}
		now, err := ScanOne[int](tx.QueryRowContext(ctx, s.lockLast, namespace))
		if err != nil || now > last {
			return now, err
		}
		found, err := tx.QueryContext(ctx, s.running, namespace)
		running, err := Collect(found, err, ScanOne[int])
		if err != nil {
			return nil, err
		}
		for _, id := range running {
			ref := launchlog.Ref{Namespace: namespace, Launch: id}
			if err := s.end(ctx, tx, ref, ending); err != nil {
				return nil, err
			}
		}
		if now == last {
			return now, nil
		}
		if err := run(ctx, tx, s.setLast, last, namespace); err != nil {
			return nil, err
		}
		return last, s.addEvent(ctx, tx, launchlog.Event{
			Namespace: namespace, Kind: "advanced", Actor: ending.Actor,
			Detail: detail.Advanced(now, last),
		})
	}))
	return now, 0, err
}

// Launch implements launchlog.Store.
func (s *Steps) Launch(ctx context.Context, ref launchlog.Ref) (launchlog.Launch, error) {
	return result[launchlog.Launch](s.read(ctx, func(ctx context.Context, tx Tx) (any, error) {
		return s.launch(ctx, tx, s.oneLaunch, ref)
	}))
}

// Launches implements launchlog.Store.
func (s *Steps) Launches(
	ctx context.Context, namespace string, f launchlog.Filter,
) ([]launchlog.Launch, error) {
	return list(ctx, s, ScanLaunch, s.launches, namespace,
		f.Service, f.Service, f.Environment, f.Environment, f.Running, f.Before, f.Before, f.Limit)
}

// Events implements launchlog.Store.
func (s *Steps) Events(ctx context.Context, ref launchlog.Ref) ([]launchlog.Event, error) {
	return list(ctx, s, ScanEvent, s.events, ref.Namespace, ref.Launch)
}

// Claims implements launchlog.Store.
func (s *Steps) Claims(
	ctx context.Context, ref launchlog.Ref, from, limit int,
) ([]launchlog.Claim, error) {
	return list(ctx, s, ScanClaim, s.claims, ref.Namespace, ref.Launch, from, limit)
}

// TrimClaims implements launchlog.Store.
func (s *Steps) TrimClaims(ctx context.Context, ref launchlog.Ref, below int) error {
	_, err := s.write(ctx, func(ctx context.Context, tx Tx) (any, error) {
		return nil, run(ctx, tx, s.trim, ref.Namespace, ref.Launch, below)
	})
	return err
}
