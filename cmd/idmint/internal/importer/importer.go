package importer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/idmint/idmint/cmd/idmint/internal/pool"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/launchlog"
)

// Import describes an import.
type Import struct {
	// the file's absolute path, or "-" for standard input, which identifies an unfinished import
	Source   string
	Format   Format
	Table    string
	IDColumn string // "id" if empty
	Batch    int    // rows in a transaction, or fewer after 8 MiB of the file; 1,000,000 if zero
	// Launch is the launch of the IDs. If it is 0, a launch is started for this import, and ends
	// with it.
	Launch int
	// Initiator names who starts the launch.
	Initiator string
	// Restart and Resume are for an unfinished import of the same file into the same table, which
	// is an [UnfinishedError] without either. Restart removes its rows and starts it again. Resume
	// continues it. If the import is finished, Resume leaves it as it is, because a run that was
	// killed may have stored its last batch, whereas without Resume the file is imported again.
	Restart, Resume bool
	// Progress is called after each batch with the rows stored and the bytes of the file that they
	// took. It may be nil.
	Progress func(rows, bytes int64)
}

// Result describes what an import did.
type Result struct {
	Rows    int64 `json:"rows"`    // stored by this run
	Resumed int64 `json:"resumed"` // stored by earlier runs of the same import
	Anew    bool  `json:"-"`       // Resume or Restart found no unfinished import
	// rows of an unfinished import that were removed by Restart
	Removed    int64            `json:"removed"`
	Launch     int              `json:"launch_id"`
	Generators []int            `json:"generator_ids"`
	First      idtype.DecimalID `json:"first_id"`
	Last       idtype.DecimalID `json:"last_id"`
	Duration   time.Duration    `json:"-"`
	// Unreported is the error of reporting to the launch log how far the counters came. After it,
	// the next IDs may be below these.
	Unreported error `json:"-"`
}

// An UnfinishedError is returned if an earlier import of the same file into the same table did not
// end.
type UnfinishedError struct {
	Source, Table string
	Rows          int64
	Since, Last   string // when it began, and when it stored its last batch
}

func (e *UnfinishedError) Error() string {
	return fmt.Sprintf("an import of %s into %s is unfinished: it began at %s and had stored %d "+
		"rows by %s. If its run has ended, continue with --resume, "+
		"or remove these rows and start again with --restart; if it is still running, wait for "+
		"it, because either would end it", e.Source, e.Table, e.Since, e.Rows, e.Last)
}

// An OtherLogError is returned if the launch log is not the one that an unfinished import began
// with, so that its launch number belongs to another launch, or to none.
type OtherLogError struct {
	Launch int
}

func (e *OtherLogError) Error() string {
	return fmt.Sprintf("this launch log has no launch %d that was started for the import: name "+
		"the log that it began with (--log, --namespace), or a launch to continue with (--launch)",
		e.Launch)
}

// A StoppedError is returned if an import ended before its file did. What it stored stays, and
// Resume continues it.
type StoppedError struct {
	Rows    int64 // stored in all
	InDoubt int64 // rows that follow, and may be stored: Resume finds out
	Err     error
}

func (e *StoppedError) Error() string {
	// Resume does not help with these
	for _, other := range []error{errChanged, errFinished, errTakenOver} {
		if errors.Is(e.Err, other) {
			return other.Error()
		}
	}
	if e.InDoubt > 0 {
		return fmt.Sprintf("%v; %d rows are stored, the next %d are in doubt, and nothing after "+
			"them is stored: %s", e.Err, e.Rows, e.InDoubt, e.remedy())
	}
	return fmt.Sprintf("%v; %d rows are stored, and nothing after them: %s", e.Err, e.Rows,
		e.remedy())
}

// remedy returns what to do next.
func (e *StoppedError) remedy() string {
	switch {
	case errors.As(e.Err, new(*RecordError)):
		return "correct the row, and continue with --resume"
	case errors.As(e.Err, new(*RowError)):
		return "correct the row or the table, and continue with --resume"
	case errors.As(e.Err, new(*LeftOutError)):
		return "change the table, and continue with --resume"
	case errors.Is(e.Err, pool.ErrSilent):
		return "continue with --resume, and with smaller batches (--batch) or a longer --wait"
	}
	return "continue with --resume"
}

func (e *StoppedError) Unwrap() error { return e.Err }

const (
	// defaultBatch is rarely reached before batchBytes.
	defaultBatch = 1_000_000
	// reportWait limits how long an import waits for its generator's report at the end.
	reportWait = 5 * time.Second
)

// A batch is what one transaction stores.
type batch struct {
	fields *block
	rows   int
	end    position // rows is counted from the start of the file
	err    error    // io.EOF, or why reading ended after the rows
}

// Run imports r into the database. An error that is not a [*StoppedError] means that nothing was
// stored.
func Run(
	ctx context.Context, db Database, log *launchlog.Log, r io.Reader, im Import,
) (Result, error) {
	began := time.Now()
	if im.IDColumn == "" {
		im.IDColumn = "id"
	}
	if im.Batch <= 0 {
		im.Batch = defaultBatch
	}
	if im.Launch != 0 {
		if err := usable(ctx, log, im.Launch); err != nil {
			return Result{}, err
		}
	}
	rec, err := reading(ctx, func() (records, error) { return openRecords(r, im.Format) })
	if err != nil {
		return Result{}, err
	}
	if err := db.prepare(ctx, im, rec.columns()); err != nil {
		return Result{}, err
	}
	state, result, err := begin(ctx, db, log, im)
	if err != nil {
		return result, err
	}
	_, err = reading(ctx, func() (struct{}, error) { return struct{}{}, skip(rec, state) })
	switch {
	case err != nil:
	case state.finished: // the run that stored the last batch may have been killed before this
		err = end(ctx, log, im, state, launchlog.Succeeded)
	default:
		err = store(ctx, db, log, im, rec, state, &result)
	}
	result.Duration = time.Since(began)
	if err != nil {
		stopped := &StoppedError{Rows: state.rows, InDoubt: state.unanswered, Err: err}
		if state.doubt != nil {
			stopped.InDoubt = state.doubt.Rows - state.rows
		}
		return result, stopped
	}
	return result, nil
}

// usable checks that a launch exists and is running, before anything is done with it.
func usable(ctx context.Context, log *launchlog.Log, id int) error {
	launch, err := log.Show(ctx, id)
	if err == nil && !launch.Running() {
		err = fmt.Errorf("launch %d: %w", id, launchlog.ErrEnded)
	}
	return err
}

// reading runs f, which reads the file, and abandons it when the context ends, because a read from
// a pipe cannot be interrupted.
func reading[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		v, err := f()
		done <- outcome{v, err}
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		var zero T
		return zero, context.Cause(ctx)
	}
}

// begin finds the unfinished import, or records a new one, and makes sure that it has a launch.
func begin(
	ctx context.Context, db Database, log *launchlog.Log, im Import,
) (*state, Result, error) {
	result := Result{Generators: []int{}}
	s, err := db.last(ctx, im)
	if err != nil {
		return nil, result, err
	}
	if s != nil && im.Launch == 0 && (im.Resume || im.Restart) {
		if here, err := started(ctx, log, s); err != nil {
			return nil, result, err
		} else if !here {
			return nil, result, &OtherLogError{s.launch}
		}
	}
	switch {
	case s == nil:
		result.Anew = im.Resume || im.Restart
	case s.finished && im.Resume:
		result.Resumed, result.Launch = s.rows, s.launch
		return s, result, nil
	case s.finished:
		result.Anew = im.Restart
		s = nil
	case im.Restart:
		if result.Removed, err = db.abandon(ctx, im, s); err != nil {
			return nil, result, err
		}
		if err := end(ctx, log, im, s, launchlog.Aborted); err != nil {
			return nil, result, err
		}
		s = nil
	case im.Resume && s.doubt != nil && s.doubt.Remove:
		return nil, result, errRestarting
	case !im.Resume:
		return nil, result, &UnfinishedError{im.Source, im.Table, s.rows, s.startedAt, s.changedAt}
	}
	if s == nil {
		if s, err = db.record(ctx, im); err != nil {
			return nil, result, err
		}
	} else if s, err = db.takeOver(ctx, s, im.Launch); err != nil {
		return nil, result, err
	}
	result.Resumed = s.rows
	if s.launch == 0 {
		launch, err := log.Start(ctx, launchlog.Request{
			Key: s.key, Service: "idmint import", Environment: "import", Initiator: im.Initiator,
			InitiatorKind: "user",
		})
		var taken *launchlog.ConflictError
		// by another user's run of this import, which ended before it could record the number
		if errors.As(err, &taken) {
			launch.ID, err = taken.Launch, nil
		}
		if err != nil {
			return nil, result, err
		}
		if err := db.setLaunch(ctx, s, launch.ID); err != nil {
			return nil, result, err
		}
	}
	if err := usable(ctx, log, s.launch); err != nil {
		return nil, result, &StoppedError{
			Rows: s.rows,
			Err:  fmt.Errorf("%w; another launch can be named with --launch", err),
		}
	}
	result.Launch = s.launch
	return s, result, nil
}

// started reports whether the log has the launch that was started for the import, if there was one.
// In another log the number belongs to another launch.
func started(ctx context.Context, log *launchlog.Log, s *state) (bool, error) {
	if !s.ownLaunch || s.launch == 0 {
		return true, nil
	}
	launch, err := log.Show(ctx, s.launch)
	if errors.Is(err, launchlog.ErrNotFound) {
		return false, nil
	}
	return launch.Key == s.key, err
}

// end ends the launch that was started for the import, if there is one and nobody has ended it.
func end(
	ctx context.Context, log *launchlog.Log, im Import, s *state, outcome launchlog.Outcome,
) error {
	if here, err := started(ctx, log, s); err != nil || !here || !s.ownLaunch || s.launch == 0 {
		return err
	}
	_, err := log.End(ctx, s.launch,
		launchlog.Ending{
			Outcome: outcome, Actor: im.Initiator, Reason: "import " + string(outcome),
		})
	if errors.As(err, new(*launchlog.ConflictError)) {
		return nil
	}
	return err
}

// store imports the rest of the file into the table, and ends the import's own launch.
func store(
	ctx context.Context, db Database, log *launchlog.Log, im Import, rec records, s *state,
	result *Result,
) error {
	gen, err := generator.NewDecimal(log.Generators(s.launch))
	if err != nil {
		return err
	}
	defer func() {
		// even an import that was interrupted has minted
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reportWait)
		defer cancel()
		result.Unreported = gen.Close(ctx)
	}()
	storeBatch := func(ids []idtype.DecimalID, b batch) error {
		if err := db.store(ctx, im, rec.columns(), s, ids, b); err != nil || len(ids) == 0 {
			return err
		}
		if result.Rows == 0 {
			result.First = ids[0]
		}
		result.Last = ids[len(ids)-1]
		result.Rows += int64(len(ids))
		result.Generators = gen.Stats().Generators
		if im.Progress != nil {
			im.Progress(s.rows, s.bytes)
		}
		return nil
	}
	if s.doubt != nil {
		b, err := reading(ctx, func() (batch, error) { return reread(rec, s) })
		if err == nil {
			err = storeBatch(idsIn(s.doubt.Ranges), b)
		}
		if err != nil {
			return err
		}
	}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	batches, stored := read(inner, rec, im.Batch, s.position)
	var ids []idtype.DecimalID
	for {
		var b batch
		select {
		case b = <-batches:
		case <-ctx.Done():
		}
		// nothing of a batch that may have been read is stored
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if b.err != nil && b.err != io.EOF && b.rows == 0 {
			return b.err
		}
		ids = slices.Grow(ids[:0], b.rows)[:b.rows]
		if _, err := gen.Fill(ctx, ids); err != nil {
			return err
		}
		if err := storeBatch(ids, b); err != nil {
			return err
		}
		stored <- b.fields
		switch {
		case b.err == io.EOF:
			return end(ctx, log, im, s, launchlog.Succeeded)
		case b.err != nil:
			return b.err
		}
	}
}

// read reads batches in a goroutine, so that one is read while another is stored. The goroutine
// ends with the file, with an error of the file, or with the context, but not while it waits for a
// pipe. The last batch has an error, io.EOF on success, and may have rows before it. A bad record
// spoils its batch, whose rows are all dropped. A batch of long rows has fewer of them. The caller
// may return the block of a stored batch by the channel stored.
func read(
	ctx context.Context, rec records, size int, from position,
) (batches <-chan batch, stored chan<- *block) {
	filled, free := make(chan batch), make(chan *block, 2)
	go func() {
		at := from
		for ctx.Err() == nil {
			b := batch{}
			select {
			case b.fields = <-free:
				b.fields.reset()
			default:
				b.fields = newBlock()
			}
			for b.rows == 0 || b.rows < size && rec.offset()-at.bytes < batchBytes &&
				b.fields.size() < batchMemory {
				if b.err = rec.read(b.fields); b.err != nil {
					break
				}
				b.rows++
			}
			if b.err != nil && b.err != io.EOF {
				b.rows = 0
			} else {
				at.rows += int64(b.rows)
				at.bytes, at.sha256 = rec.offset(), rec.checksum()
			}
			b.end = at
			select {
			case filled <- b:
			case <-ctx.Done():
				return
			}
			if b.err != nil {
				return
			}
		}
	}()
	return filled, free
}
