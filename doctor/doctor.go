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
// Package [checks] has the type of the results, and the list of all checks with what they look at
// and what to do. An endpoint reports that something is wrong where any result is a
// [checks.Finding].
//
// # Other stores
//
// [Log] and [Look] serve every store. What only a client can ask lies in packages beside the
// stores: etcddoctor, zookeeperdoctor and cassandradoctor, each in the module of its store. Their
// results are of package checks, too.
package doctor

import "github.com/idmint/idmint/internal/named"

func failed(code string, err error) error { return named.Failed("doctor: "+code, err) }
