package main

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/doctor"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/idtype/formats"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/checks"
)

// shortNumber is the one counter of all short IDs.
const shortNumber = "counter " + shortCounter

// key makes f a finding about one key. The error says why the key is not an ID.
func (f *auditFinding) key(scheme idtype.Scheme, src any) (number string, at time.Time, err error) {
	text, number, at, err := keyParts(scheme, src)
	if b, ok := src.([]byte); err != nil && ok {
		text = fmt.Sprintf("%q", b)
	} else if err != nil {
		text = fmt.Sprint(src)
	}
	f.Keys, f.First, f.Last = 1, text, text
	return number, at, err
}

// keyParts returns the text of a column's value and, for schemes that carry the time, the number
// that the log lends and the time.
func keyParts(scheme idtype.Scheme, src any) (text, number string, at time.Time, err error) {
	switch scheme {
	case idtype.SchemeTrace:
		id, err := readKey[idtype.TraceID](src)
		last, _ := id.Times(time.Now())
		return id.String(), strconv.Itoa(id.Parts().Node), last, err
	case idtype.SchemeShort:
		id, err := readKey[idtype.ShortID](src)
		return strconv.FormatInt(int64(id), 10), shortNumber, id.Time(), err
	case idtype.SchemeSnowflake:
		id, err := readKey[givenID](src)
		return strconv.FormatInt(int64(id), 10), strconv.Itoa(id.Node()), id.Time(), err
	case idtype.SchemeEightByte:
		id, err := readKey[idtype.EightByteID](src)
		if n, isInt := src.(int64); isInt {
			id = idtype.EightByteFromUint64(uint64(n))
			err = id.Validate()
		}
		p := id.Parts()
		return id.String(), fmt.Sprintf("%d/%d", p.Cluster, p.Generator), id.Time(), err
	case idtype.SchemeSno:
		id, err := readKey[idtype.SnoID](src)
		if err != nil {
			var uuid idtype.Sno[idtype.AsUUID[any]]
			uuid, err = readKey[idtype.Sno[idtype.AsUUID[any]]](src)
			id = idtype.SnoID(uuid)
		}
		return id.String(), strconv.Itoa(id.Parts().Partition), id.Time(), err
	}
	id, err := readKey[idtype.DecimalID](src)
	return id.String(), "", time.Time{}, err
}

// readKey reads an ID from a driver's value.
func readKey[T idtype.ID](src any) (id T, err error) {
	if err = any(&id).(sql.Scanner).Scan(src); err == nil {
		err = id.Validate()
	}
	return id, err
}

// step returns the step that reads the keys of a column, one per row. For decimal keys each row
// counts those with the same pair of generator number and launch in the low digits, and -1 counts
// the values that are not IDs.
func (u *audit) step(name, column, from string) auditStep {
	if u.scheme != idtype.SchemeDecimal {
		return auditStep{name, "SELECT " + column + from, u.judgeTimed}
	}
	integer := ""
	if u.kind == dsn.SQLite { // whose columns hold values of any type
		integer = "typeof(" + column + ") = 'integer' AND "
	}
	return auditStep{
		name, fmt.Sprintf("SELECT CASE WHEN %s%s BETWEEN %d AND %d THEN %[2]s %% %[5]d "+
			"ELSE -1 END, count(*), min(%[2]s), max(%[2]s)%[6]s GROUP BY 1", integer, column,
			int64(formats.DecimalMin), int64(formats.DecimalMax), int64(formats.DecimalStep), from),
		u.judgeDecimal,
	}
}

// A taken says which generator numbers were taken for the launch digits of decimal keys.
type taken struct {
	next int  // the lowest generator number that nobody has taken
	open bool // the log may still hand it out
	log  int  // index of the log
}

// takenOf reads from the logs what was taken, by launch digits. The newest launch with the same
// digits continues the numbers of the earlier ones. Digits without an entry belong to no launch.
func takenOf(ctx context.Context, logs ...*launchlog.Log) (map[int]taken, error) {
	of := map[int]taken{}
	for i, log := range logs {
		launches, err := log.List(ctx, launchlog.Filter{Limit: launchlog.MaxLaunch})
		if err != nil {
			return nil, err
		}
		for _, l := range launches { // the newest first
			switch before, had := of[l.Digits()]; {
			case !had:
				of[l.Digits()] = taken{l.NextGenerator, l.Passes(), i}
			case before.log != i:
				return nil, fmt.Errorf("two launch logs have launch digits %d: give them ranges "+
					"that do not overlap (docs/operate/regions.md)", l.Digits())
			}
		}
	}
	return of, nil
}

func (u *audit) judgeDecimal(ctx context.Context, rows *sql.Rows) (auditJudge, error) {
	types, err := rows.ColumnTypes()
	if err != nil {
		return nil, err
	}
	// MySQL compares a string of digits as a floating-point number.
	if name := types[2].DatabaseTypeName(); u.kind != dsn.SQLite && !strings.Contains(name, "INT") {
		return nil, fmt.Errorf("the column is %s: want BIGINT, or another --scheme", name)
	}
	state, _, err := doctor.Look(ctx, u.log, nil, nil)
	if err != nil {
		return nil, err
	}
	of, err := takenOf(ctx, append(u.others, u.log)...)
	return func(f *auditFinding) (string, error) {
		var pair int
		if err := rows.Scan(&pair, &f.Keys, &f.First, &f.Last); err != nil {
			return "", err
		}
		launch, number := pair%formats.DecimalGeneratorStep, pair/formats.DecimalGeneratorStep
		taken, exists := of[launch]
		closed := !taken.open // the log never hands out the pair again
		switch {
		case pair < 0:
			f.Check = "audit.id"
			return "", nil
		case launch == 0:
			f.Check, closed = "audit.test", false
		case !exists:
			f.Check, closed = "audit.launch", launch <= state.LastLaunch // an advance passed it
		case number >= taken.next:
			f.Check = "audit.generator"
		}
		if closed {
			f.Level = checks.Note
		}
		return strconv.Itoa(launch), nil
	}, err
}

// judgeTimed judges keys that carry a time, one per row.
func (u *audit) judgeTimed(ctx context.Context, rows *sql.Rows) (auditJudge, error) {
	lent, floor, err := lentOf(ctx, u.log, u.scheme)
	return func(f *auditFinding) (string, error) {
		var value any
		if err := rows.Scan(&value); err != nil {
			return "", err
		}
		number, at, err := f.key(u.scheme, value)
		until, exists := lent[number]
		switch {
		case err != nil:
			f.Check = "audit.id"
			return "", nil
		case !exists:
			f.Check = "audit.number"
		case u.scheme != idtype.SchemeTrace && !at.Before(until): // times of trace repeat
			f.Check = "audit.time"
		}
		if at.Before(floor) { // an advance passed it
			f.Level = checks.Note
		}
		return number, nil
	}, err
}

// judgeTwice reads a key that is in two columns.
func (u *audit) judgeTwice(_ context.Context, rows *sql.Rows) (auditJudge, error) {
	return func(f *auditFinding) (string, error) {
		var key any
		err := rows.Scan(&key)
		_, _, _ = f.key(u.scheme, key) // may not be an ID
		f.Check = "audit.twice"
		return "", err
	}, nil
}

// lentOf returns the end of the last window of each number, and the time before which no number is
// lent any more.
func lentOf(
	ctx context.Context, log *launchlog.Log, scheme idtype.Scheme,
) (lent map[string]time.Time, floor time.Time, err error) {
	if scheme == idtype.SchemeShort {
		counter, err := log.Counter(shortCounter)
		if err != nil {
			return nil, floor, err
		}
		last, err := counter.Last(ctx)
		return map[string]time.Time{shortNumber: time.UnixMilli(last + 1)}, floor, err
	}
	p, err := poolFlag(string(scheme))
	if err != nil {
		return nil, floor, err
	}
	list, err := p.List(ctx, log, time.Now())
	if err == nil {
		floor, err = p.Floor(ctx, log)
	}
	lent = map[string]time.Time{}
	for _, c := range list { // a number may have several counters
		lent[c.Number] = later(lent[c.Number], c.Until)
	}
	return lent, floor, err
}
