package launchlog

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/idmint/idmint/internal/named"
)

// A reason is an error without details. Like all errors of this package, its text begins with the
// package's name.
type reason string

func (r reason) Error() string { return "launchlog: " + string(r) }

// A loss is a reason for generators to stop minting: see generator.ErrRepeated.
type loss string

func (l loss) Error() string { return "launchlog: " + string(l) }

// Lost reports that numbers which were handed out may be handed out again.
func (loss) Lost() bool { return true }

// Errors that a [Store] returns, wrapped with details, and that a [Log] passes on.
var (
	// ErrNotFound means that there is no such launch.
	ErrNotFound error = reason("no such launch")
	// ErrEnded means that the launch has ended and hands out no more generator numbers.
	ErrEnded error = reason("the launch has ended")
	// ErrOtherApp means that the launch belongs to another service or environment.
	ErrOtherApp error = reason("the launch belongs to another service or environment")
	// ErrLaunchesExhausted means that none of the namespace's digits has a generator number left,
	// or that an advance has passed over those that had.
	ErrLaunchesExhausted error = reason("the generator numbers of all launch digits are used up: " +
		"start a new namespace, for new tables only")
	// ErrGeneratorsExhausted means that the launch has used all its generator numbers. [Generators]
	// continues with the numbers of a new launch.
	ErrGeneratorsExhausted error = reason("all 100,000 generator numbers are used up: " +
		"start a new launch")
	// ErrCounterExhausted means that the log counter has fewer numbers left than were asked for.
	// The log counter is unchanged.
	ErrCounterExhausted error = reason("the counter's numbers, which end at 9223372036854775807, " +
		"are used up")
	// ErrBehind means that the store is below a number that the caller knows, or that the store has
	// given to this log before. It was restored, or failed over to a copy that lacks rows. Advance
	// it beyond every number that was ever used. A log that has seen this error takes no more
	// numbers.
	ErrBehind error = loss("the store has lost numbers that it gave out: " +
		"stop all apps, and follow docs/operate/restore.md before you start any of them again")
	// ErrOtherLog means that the log that was opened is gone: somebody deleted or replaced it, or a
	// node belongs to another cluster. The operation changed nothing. If the replacement was
	// intended, advance the new log beyond every number that was ever used, and then restart the
	// app. Stores recognize a log by a random word in it. A backup has the same word: see
	// ErrBehind.
	ErrOtherLog error = loss("the launch log that was opened is gone: " +
		"it was deleted or replaced, or a node belongs to another cluster: " +
		"see docs/operate/restore.md before you restart this process")
)

// errNotMade is the error of a zero Log.
var errNotMade = &RequestError{
	"store", "nil", "is not a store: create the log with New, and a store from a package below " +
		"launchlog",
}

// A SchemaError is wrapped in the error of a store's constructor if the tables are missing, older
// than the code, or newer.
type SchemaError struct {
	Have, Want int // versions; Have is 0 if there are no tables
}

func (e *SchemaError) Error() string {
	switch {
	case e.Have == 0:
		return "launchlog: there is no launch log: if there was one, do not migrate, because its " +
			"data was lost (docs/operate/restore.md); else create it with `idmint migrate`"
	case e.Have < e.Want:
		return fmt.Sprintf("launchlog: the launch log has schema version %d, older than %d: "+
			"upgrade it with `idmint migrate`", e.Have, e.Want)
	default:
		return fmt.Sprintf("launchlog: the launch log has schema version %d, newer than %d: "+
			"a newer idmint made it", e.Have, e.Want)
	}
}

// An AheadError is returned by a store in an SQL database if a row has a number that was not handed
// out yet, because somebody else wrote to the tables. All operations that take such a number fail
// until Mend is run.
type AheadError struct {
	Namespace string
	Launch    int // whose generator numbers are meant; 0: the launch numbers
	Number    int // the highest that any row has
	Next      int // the number that is handed out next
}

func (e *AheadError) Error() string {
	row := fmt.Sprintf("launch %d of namespace %s exists, but the next launch", e.Number,
		e.Namespace)
	do := fmt.Sprintf("run `idmint advance --launch %d`, which ends running launches "+
		"(docs/operate/restore.md)", e.Number)
	if e.Launch != 0 {
		do = "start a new launch"
		row = fmt.Sprintf("generator number %d of launch %d of namespace %s is taken, but the "+
			"next generator", e.Number, e.Launch, e.Namespace)
	}
	return fmt.Sprintf("launchlog: rows contradict each other: %s number would be %d. "+
		"Find out who wrote to the tables, and then %s, or run: %s", row, e.Next, do, e.Mend())
}

// Mend returns an SQL statement that makes the numbers of all rows count as handed out.
func (e *AheadError) Mend() string {
	if e.Launch == 0 {
		return fmt.Sprintf("UPDATE idmint_namespace SET last_launch_id = %d WHERE namespace = '%s'",
			e.Number, e.Namespace)
	}
	return fmt.Sprintf("UPDATE idmint_launch SET next_generator_id = %d "+
		"WHERE namespace = '%s' AND launch_id = %d", e.Number+1, e.Namespace, e.Launch)
}

// A RequestError is returned by a Log for invalid input. Open and Migrate of the stores in etcd and
// ZooKeeper wrap one for an invalid Config.
type RequestError struct {
	Field  string // as in JSON
	Value  string
	Reason string
}

func (e *RequestError) Error() string {
	return fmt.Sprintf("launchlog: %s %s %s", e.Field, quote(e.Value), e.Reason)
}

// A ConflictError is returned by Start for a key that belongs to a launch with a different request,
// and by End for a launch that ended with a different outcome.
type ConflictError struct {
	Key    string   // of the launch
	Launch int      // the existing launch
	Differ []string // the names of the fields that differ
	// Outcome is the outcome with which the launch has ended. It is empty in an error of Start.
	Outcome Outcome
}

func (e *ConflictError) Error() string {
	if e.Outcome != "" {
		return fmt.Sprintf("launchlog: launch %d, with key %s, has already ended with outcome %s",
			e.Launch, quote(e.Key), e.Outcome)
	}
	return fmt.Sprintf("launchlog: launch %d, with key %s, already exists and differs in %s: "+
		"repeat the original request, or use another key",
		e.Launch, quote(e.Key), strings.Join(e.Differ, ", "))
}

// An UnresolvedError is returned by a Log if the budget or the context ended before the store gave
// a final answer. It is also returned for a final error that follows a lost answer.
type UnresolvedError struct {
	Op       string // "start", "end", "claim", "reserve", …
	Key      string // identifies the operation: run it again under this key
	Attempts int
	// Uncertain reports that an answer was lost, so that the operation may have been carried out,
	// or may yet be. Start and End may be called again with the same arguments. Generator numbers
	// and numbers of log counters that are in doubt stay unused.
	Uncertain bool
	// Cause is why the call ended: the context's error, or that the budget is used up. It is nil
	// for a final error after a lost answer.
	Cause error
	Err   error // of the last attempt that was not just cut off, or nil
}

func (e *UnresolvedError) Error() string {
	text := fmt.Sprintf("launchlog: %s", e.Op)
	if e.Key != "" {
		text += " " + quote(e.Key)
	}
	text += fmt.Sprintf(" gave up after %d attempts", e.Attempts)
	if e.Uncertain {
		text += ", and may have been carried out"
	}
	for _, err := range e.Unwrap() {
		if reason := named.Bare(err); !strings.Contains(text, reason) {
			text += ": " + reason
		}
	}
	return text
}

// Unwrap returns the cause and the last attempt's error.
func (e *UnresolvedError) Unwrap() []error {
	return slices.DeleteFunc([]error{e.Cause, e.Err}, func(err error) bool { return err == nil })
}

// An AttemptError is returned by a [Store] if an attempt did not settle the operation. A [Log] may
// run the operation again. Its text is the wrapped error's text.
type AttemptError struct {
	// Ambiguous reports that the operation may have been carried out, or may yet be. If it is
	// false, nothing was changed.
	Ambiguous bool
	Err       error
}

func (e *AttemptError) Error() string { return e.Err.Error() }

func (e *AttemptError) Unwrap() error { return e.Err }

// about adds the package's name to an error of a store as it leaves the package. The name is
// followed by what the error is about, such as a launch, unless that is "".
func about(what string, err error) error {
	return named.Failed(strings.TrimSuffix("launchlog: "+what, ": "), err)
}

// quote quotes and shortens text for a message. A text with quotes is put in backquotes, where
// nothing is escaped. Characters that cannot be seen are always escaped.
func quote(s string) string {
	const most = 80
	if len(s) > most {
		return fmt.Sprintf("%q… (%d bytes)", s[:most], len(s))
	}
	unseen := func(r rune) bool { return !strconv.IsPrint(r) }
	if strings.Contains(s, `"`) && strconv.CanBackquote(s) && !strings.ContainsFunc(s, unseen) {
		return "`" + s + "`"
	}
	return strconv.Quote(s)
}
