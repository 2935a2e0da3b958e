package launchlog

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/idmint/idmint/internal/named"
)

// A reason is an error without details. Its text begins with the package's name, as those of all
// errors here do.
type reason string

func (r reason) Error() string { return "launchlog: " + string(r) }

// A loss is a reason for generators to mint nothing any more: see generator.ErrRepeated.
type loss string

func (l loss) Error() string { return "launchlog: " + string(l) }

// Lost reports that numbers which were handed out may be handed out again.
func (loss) Lost() bool { return true }

// Errors that a [Store] returns, wrapped with what it knows, and a [Log] passes on.
var (
	// ErrNotFound: there is no such launch.
	ErrNotFound error = reason("no such launch")
	// ErrEnded: the launch has ended, and gives out no more generator numbers.
	ErrEnded error = reason("the launch has ended")
	// ErrOtherApp: the launch is of another service, or of another environment.
	ErrOtherApp error = reason("the launch is of another service or environment")
	// ErrLaunchesExhausted: no digits of the namespace's have a generator number left, or an advance
	// has passed over those that have.
	ErrLaunchesExhausted error = reason("the generator numbers of all launch digits are used up: " +
		"start a new namespace, for tables of its own")
	// ErrGeneratorsExhausted: the launch has used all its generator numbers. [Generators] go on with
	// those of a launch that continues it.
	ErrGeneratorsExhausted error = reason("all 100,000 generator numbers are used up: " +
		"start a new launch")
	// ErrCounterExhausted: the counter has not as many numbers left as were asked for. It stays as
	// it was.
	ErrCounterExhausted error = reason("the counter's numbers, which end at 9223372036854775807, " +
		"are used up")
	// ErrBehind: the store has not come as far as a number that the caller knows, or that it has
	// given to this log before. It was restored, or failed over to a copy that lacks rows. Advance
	// it beyond every number that was ever used. A log that has seen this takes no number any more.
	ErrBehind error = loss("the store has lost numbers that it gave out: " +
		"run idmint advance (docs/operate/restore.md), and then start this process again")
	// ErrOtherLog: the log that was opened is not there any more. Somebody deleted it, another one
	// was made in its place, or a node belongs to another cluster. The step did nothing. If that
	// was meant, advance the new log beyond every number that was ever used. Then start the app
	// again. A log has a random word, by which stores notice. A backup has the same word: see
	// ErrBehind.
	ErrOtherLog error = loss("the launch log that was opened is not there any more: " +
		"it was deleted or made anew, or a node belongs to another cluster: " +
		"see docs/operate/restore.md before this process is started again")
)

// errNotMade is the error of a log that is the zero value.
var errNotMade = &RequestError{
	"store", "nil", "holds no launches: New makes a log, with a store of a package below launchlog",
}

// A store's constructor returns an error that wraps a SchemaError where its tables are missing,
// older than the code, or newer.
type SchemaError struct {
	Have, Want int // versions; Have is 0 where there are no tables
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

// A store in a SQL database returns an AheadError where a row is there whose number was not given
// out yet: somebody else wrote to the tables. All steps that take such a number fail until Mend.
type AheadError struct {
	Namespace string
	Launch    int // whose generator numbers are meant; 0: the launch numbers
	Number    int // the highest that a row has
	Next      int // the one that is given out next
}

func (e *AheadError) Error() string {
	row := fmt.Sprintf("launch %d of namespace %s is there, and the next launch", e.Number,
		e.Namespace)
	do := fmt.Sprintf("run `idmint advance --launch %d`, which ends the launches that run", e.Number)
	if e.Launch != 0 {
		do = "start a new launch"
		row = fmt.Sprintf("generator number %d of launch %d of namespace %s is taken, and the next "+
			"generator", e.Number, e.Launch, e.Namespace)
	}
	return fmt.Sprintf("launchlog: rows do not fit together: %s number would be %d. "+
		"Find out who wrote to the tables, and then %s, or run: %s", row, e.Next, do, e.Mend())
}

// Mend is a statement of SQL, after which the numbers of all rows count as given out.
func (e *AheadError) Mend() string {
	if e.Launch == 0 {
		return fmt.Sprintf("UPDATE idmint_namespace SET last_launch_id = %d WHERE namespace = '%s'",
			e.Number, e.Namespace)
	}
	return fmt.Sprintf("UPDATE idmint_launch SET next_generator_id = %d "+
		"WHERE namespace = '%s' AND launch_id = %d", e.Number+1, e.Namespace, e.Launch)
}

// A Log returns a RequestError for input that it does not take. Open and Migrate of stores in etcd
// and ZooKeeper wrap one for a Config that they do not take.
type RequestError struct {
	Field  string // as in JSON
	Value  string
	Reason string
}

func (e *RequestError) Error() string {
	return fmt.Sprintf("launchlog: %s %s %s", e.Field, quote(e.Value), e.Reason)
}

// Start returns a ConflictError for a key that belongs to a launch with another request. End
// returns one for a launch that ended with another outcome.
type ConflictError struct {
	Key    string   // of the launch
	Launch int      // the launch that is there
	Differ []string // the names of the fields that differ
	// Outcome is the one that the launch has ended with. It is empty in an error of Start.
	Outcome Outcome
}

func (e *ConflictError) Error() string {
	if e.Outcome != "" {
		return fmt.Sprintf("launchlog: launch %d, of key %s, has ended already, with outcome %s",
			e.Launch, quote(e.Key), e.Outcome)
	}
	return fmt.Sprintf("launchlog: launch %d, of key %s, is there and differs in %s: "+
		"repeat the request as it was, or take another key",
		e.Launch, quote(e.Key), strings.Join(e.Differ, ", "))
}

// A Log returns an UnresolvedError when the budget or the context ended before the store gave a
// final answer. It also returns one for a final error after an answer was lost.
type UnresolvedError struct {
	Op       string // "start", "end", "claim", "reserve", …
	Key      string // what names the operation: run it again under this key
	Attempts int
	// Uncertain says that an answer was lost: the operation may have been carried out, or may yet
	// be. Start and End may be run again as they are. Numbers in doubt, of generators or counters,
	// are left unused.
	Uncertain bool
	// Cause says why it ended: the context's error, or that the budget is used up. It is nil for a
	// final error after a lost answer.
	Cause error
	Err   error // of the last attempt that was not merely cut off, or nil
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

// A [Store] returns an AttemptError where an attempt did not settle the operation. A [Log] may run
// the operation again. The text is that of the error in it.
type AttemptError struct {
	// Ambiguous: the operation may have been carried out, or may yet be. If not, it is known that
	// nothing was changed.
	Ambiguous bool
	Err       error
}

func (e *AttemptError) Error() string { return e.Err.Error() }

func (e *AttemptError) Unwrap() error { return e.Err }

// about is where errors of a store leave the package, and get its name. It stands once in the text,
// before what the error is about, such as a launch, unless that is "".
func about(what string, err error) error {
	return named.Failed(strings.TrimSuffix("launchlog: "+what, ": "), err)
}

// quote bounds what goes into a message. A text with quotes stands in backquotes, where nothing in
// it is escaped. What is not seen is always escaped.
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
