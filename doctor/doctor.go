// Package doctor checks a launch log and the database that keeps it, for operators and for an app's
// health endpoint. It uses no number of the log. In ZooKeeper it writes the log's root, the znode
// ~WORD, because ZooKeeper tells its time no other way. [State.Leave] leaves a mark, where that is
// wanted.
//
//	results, err := doctor.SQL(ctx, db, migrations.Postgres) // the database
//	more, err := doctor.Log(ctx, log)                        // what the log holds
//
// A [Watch] does what Log does once a minute, for whoever asks, and tells what is used up as well.
//
// [SQL] looks at the server's settings, the role's rights, and the tables. [Log] looks at what is
// used up, at clocks, and at counters that a wrong clock raised. It asks nothing but the log, so it
// serves every store. [Look] compares the log with an earlier look, and so notices a restore or a
// failover, also where the log has been used since.
//
// # Results
//
// Each [Result] names its check by a code that stays the same from release to release. [Checks]
// lists them with what they look at, and what to do. A [Finding] endangers numbers, or stops the
// log soon or now. A [Note] is advice. Unknown says that a check could not be made, as for lack of
// a right. So an endpoint reports that something is wrong where any result is a Finding.
//
// # Other stores
//
// [Log] and [Look] serve every store. What only a client can ask lies in packages beside the
// stores: etcddoctor, zookeeperdoctor and cassandradoctor, each in the module of its store. They
// make their results by [Examine]. The list of [Checks] has their codes.
package doctor

import "fmt"

// Level says how much a result matters.
type Level string

// The levels.
const (
	Passed  Level = "passed"  // all is well
	Unknown Level = "unknown" // the check could not be made
	Note    Level = "note"    // advice: nothing is in danger now
	Finding Level = "finding" // numbers are in danger, or the log cannot be used, now or soon
)

// A Result is what a check saw.
type Result struct {
	Check   string `json:"check"` // the code of one of Checks
	Level   Level  `json:"level"`
	Message string `json:"message"` // what was seen
	// Remedy says what to do about a note or a finding. It is empty otherwise.
	Remedy string `json:"remedy,omitempty"`
}

// New makes a result of a check, with the check's remedy for a note or a finding.
func New(code string, level Level, format string, args ...any) Result {
	r := Result{Check: code, Level: level, Message: fmt.Sprintf(format, args...)}
	if level == Note || level == Finding {
		r.Remedy = remedy(code)
	}
	return r
}

// A failure is what a database says, behind the package's name and the check's code.
type failure struct {
	code string
	err  error
}

func (e *failure) Error() string { return "doctor: " + e.code + ": " + e.err.Error() }
func (e *failure) Unwrap() error { return e.err }

func failed(code string, err error) error {
	if err == nil {
		return nil
	}
	return &failure{code, err}
}
