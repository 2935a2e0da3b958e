// Package doctor checks a launch log and the database that keeps it, both for operators and for an
// app's health endpoint.
//
//	results, err := doctor.SQL(ctx, db, migrations.Postgres) // the database
//	more, err := doctor.Log(ctx, log)                        // what the log holds
//
// [SQL] checks the server's settings, the role's rights, and the tables. [Log] checks how many
// numbers are used up, compares clocks, and looks for log counters that a wrong clock raised.
// Because it asks only the log, it works with every store. A [Watch] makes the checks of Log at
// most once a minute for any number of callers, and also reports how much is used up. [Look]
// compares the log with an earlier look, and so detects a restore or a failover even if the log has
// been used since.
//
// The checks use up no numbers of the log. Their only write is to the root znode ~WORD of a log in
// ZooKeeper, because ZooKeeper tells its time in no other way. [State.Leave], which is optional,
// leaves a mark in the log.
//
// # Results
//
// Package [checks] has the type of the results, and the list of all checks with what they look at
// and what to do. A health endpoint should report a problem if any result is a [checks.Finding].
//
// # Other stores
//
// [Log] and [Look] work with every store. Checks that need a store's client are in the packages
// etcddoctor, zookeeperdoctor and cassandradoctor, each in the module of its store, and also return
// results of package checks.
package doctor

import "github.com/idmint/idmint/internal/named"

func failed(code string, err error) error { return named.Failed("doctor: "+code, err) }
