// Package cassandra is a launchlog.Store in Apache Cassandra 4.1 or later, by
// github.com/apache/cassandra-gocql-driver/v2. It is a module of its own, so that whoever uses
// another store has nothing of Cassandra in his go.sum.
//
//	config := cassandra.Config{
//		Hosts: []string{"cassandra1", "cassandra2", "cassandra3"}, Keyspace: "shop",
//		Replication: map[string]string{"class": "NetworkTopologyStrategy", "dc1": "3"},
//	}
//	from, to, err := cassandra.Migrate(ctx, config) // once, by an operator
//	store, err := cassandra.Open(ctx, config)
//
// Every step is a lightweight transaction: a logged batch of conditional statements in one
// partition, which the partition's replicas decide by Paxos. It compares and raises the version of
// each row that it writes. Reads that a step relies on are SERIAL, and see one snapshot of a
// partition.
//
// # An answer that is lost
//
// A node that says WriteTimeout does not know whether the transaction was carried out, and nor does
// the client of a node that says nothing. Under contention that is common. So after a lost answer
// the store sends the same statements again. A copy that comes late, or second, finds the version
// raised, and changes nothing. Then the rows tell, as no two commits write the same value: the own
// one tells that the commit was carried out, and another's in its place that it never will be.
//
// Launches and generator numbers have rows that are written once, and are always settled. If others
// have raised a counter since, nothing tells what became of a range of it. That is an ambiguous
// [*launchlog.AttemptError], and the range stays unused: a gap, and no repeat.
//
// # A node that does not answer
//
// A request waits for 2 s, and then goes to the next host, which is asked first for 10 s. So a node
// that is stopped or cut off costs a call 6 s at most, while a host and a majority of the replicas
// answer. All processes ask the first of the hosts that answers. A node queues what wants one
// partition, whereas nodes that compete for a partition delay each other.
//
// # What it promises, and under which settings
//
//   - What was acknowledged is on a majority of the replicas, and survives the loss of any
//     minority. With a replication factor of 3 that is one node, with 5 two. With 1 or 2 it is
//     none.
//   - A node that acknowledges has the row in memory, and with commitlog_sync: periodic on its disk
//     10 s later. Where a majority of the replicas loses power within that time, launches are lost
//     and numbers repeat. Set commitlog_sync: batch or group, unless replicas are in different
//     places.
//   - paxos_variant: v2 on each node is what the store is made for, and what its tests run with.
//     With v1, the default, serial reads take more rounds, and clients that compete time out more
//     often. The variants v2_without_linearizable_reads and
//     v2_without_linearizable_reads_or_rejected_writes give up what the store relies on: do not use
//     them. Package cassandradoctor tells what nodes have.
//   - By default all data centres decide together, by SERIAL and QUORUM. With [Config].LocalSerial
//     one data centre decides alone, and all apps must use that one. A log is of one kind for ever:
//     Open refuses the other. Their writers do not see each other.
//   - Change the replication factor as Cassandra's manual says, with a repair at each step. A
//     keyspace that is restored from a snapshot has lost what came after it: see package launchlog.
//   - Clocks of nodes need not agree. Paxos gives each transaction of a partition a later timestamp
//     than the last one, and orders what clocks do not. For the same reason no statement says USING
//     TIMESTAMP: a client's time could hide a newer value behind an older one, and Cassandra
//     refuses it in a condition.
//   - Rows never expire, and only [launchlog.Log.Trim] deletes some, those of claims. Their
//     tombstones are in the way of lists of a launch's claims alone. If a node that was away for
//     longer than gc_grace_seconds brings such rows back, no number depends on them. All other
//     versions only rise. Nothing else may delete, expire, truncate or write rows. See below for
//     what a TRUNCATE does.
//   - The table of the rows has a random name, which the table idmint_log keeps. It is made with
//     the log, and never again. So after the keyspace or the table was dropped, all steps of apps
//     that run fail with [launchlog.ErrOtherLog], also where the log was made anew.
//   - Times of rows are those of the process that writes. [launchlog.Log.Now] is the clock of the
//     node that was asked.
//
// # A log that is truncated
//
// The table of the rows has a row of its own, which Migrate writes once, before the log is there. A
// TRUNCATE deletes it. So whatever finds no row of a partition reads that one as well. It returns
// [launchlog.ErrOtherLog] where it is gone. A commit that only inserts reads it afterwards, so it
// hands out nothing once the log was truncated. Lists read it each time. A step on a counter or
// launch that is there asks nothing more than without this. A log that was truncated stays so:
// [Open] and [Migrate] refuse it, until the keyspace was dropped.
//
// That does not make a TRUNCATE under apps that run safe. Stop them first:
//
//   - Nodes truncate one after another. While they do, a step may find a row on a node that has
//     not yet truncated, in an older version than the last one.
//   - A step that made a partition at that moment leaves its rows there, and fails. Others that
//     find these rows go on from them, until they meet a partition without rows.
//   - With paxos_variant: v1 a read of that moment may bring the table's own row back. Then nobody
//     notices.
//
// The role needs SELECT and MODIFY on the keyspace. For package cassandradoctor it also needs
// SELECT on the table system_views.settings.
//
// Other databases speak Cassandra's protocol. None of them was tried.
package cassandra
