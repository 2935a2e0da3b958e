// Package cassandra is a launchlog.Store that keeps a launch log in Apache Cassandra 4.1 or later,
// through github.com/apache/cassandra-gocql-driver/v2. It is a separate module, so that Cassandra's
// dependencies appear only in the go.sum of those who use it.
//
//	config := cassandra.Config{
//		Hosts: []string{"cassandra1", "cassandra2", "cassandra3"}, Keyspace: "shop",
//		Replication: map[string]string{"class": "NetworkTopologyStrategy", "dc1": "3"},
//	}
//	from, to, err := cassandra.Migrate(ctx, config) // once, by an operator
//	store, err := cassandra.Open(ctx, config)
//
// Every step is a lightweight transaction: a logged batch of conditional statements in one
// partition, on which the partition's replicas decide with Paxos. It compares and raises the
// version of each row that it writes. Reads that a step relies on are SERIAL, and see one snapshot
// of a partition.
//
// # If an answer is lost
//
// A node that returns WriteTimeout does not know whether the transaction was executed, and neither
// does the client of a node that does not answer. Under contention that is common. After a lost
// answer the store therefore sends the same statements again. A copy that arrives late or second
// finds the version raised, and changes nothing. The rows then show the result, because no two
// commits write the same value: if the row has the commit's own value, the commit was executed, and
// if it has another's, it never will be.
//
// Launches and generator numbers have rows that are written once, so they are never in doubt. If
// others have raised a counter since, nothing shows whether a range of it was reserved. The result
// is an ambiguous [*launchlog.AttemptError], and the range stays unused, which leaves a gap but
// repeats nothing.
//
// # If a node does not answer
//
// A request waits for 2 s, and then goes to the next host, which is asked first for the next 10 s.
// A stopped or unreachable node therefore delays a call by at most 6 s, as long as a host and a
// majority of the replicas answer. All processes ask the first host that answers, because one node
// queues the requests for a partition, whereas nodes that compete for a partition delay each other.
//
// # Guarantees and settings
//
//   - Whatever was acknowledged is on a majority of the replicas, and survives the loss of any
//     minority. That is one node with a replication factor of 3, two with 5, and none with 1 or 2.
//   - A node that acknowledges has the row in memory, and with commitlog_sync: periodic it has the
//     row on its disk up to 10 s later. If a majority of the replicas loses power within that time,
//     launches are lost and numbers repeat. Set commitlog_sync: batch or group, unless the replicas
//     are at different sites.
//   - The store is designed for and tested with paxos_variant: v2 on each node. With v1, the
//     default, serial reads take more rounds, and competing clients time out more often. Do not use
//     v2_without_linearizable_reads or v2_without_linearizable_reads_or_rejected_writes, which give
//     up what the store relies on. Package cassandradoctor reports the variant of each node.
//   - By default all data centers decide together, with SERIAL and QUORUM. With
//     [Config].LocalSerial one data center decides alone, and all apps must use that one. A log
//     never changes its kind, and Open refuses the other one, because writers of different kinds do
//     not see each other.
//   - Change the replication factor as Cassandra's manual describes, with a repair at each step. A
//     keyspace that was restored from a snapshot has lost everything after it: see package
//     launchlog.
//   - Clocks of nodes need not agree. Paxos gives each transaction of a partition a later timestamp
//     than the last one, and orders what clocks do not. For the same reason no statement uses USING
//     TIMESTAMP: a client's time could hide a newer value behind an older one, and Cassandra
//     refuses it in a conditional statement.
//   - Rows never expire. Only [launchlog.Log.Trim] deletes rows, those of claims, and their
//     tombstones slow down nothing but lists of a launch's claims. If a node that was down for
//     longer than gc_grace_seconds brings such rows back, no number depends on them, because all
//     other versions only rise. Nothing else may delete, expire, truncate or write rows. The
//     effects of a TRUNCATE are described below.
//   - The table of the rows has a random name, which the table idmint_log keeps. It is created with
//     the log, and never again. After the keyspace or the table was dropped, all steps of running
//     apps therefore fail with [launchlog.ErrOtherLog], even if the log was recreated.
//   - Times of rows are those of the process that writes them. [launchlog.Log.Now] is the clock of
//     the node that was asked.
//
// # If a log is truncated
//
// The table of the rows has a marker row, which Migrate writes once, before the log exists. A
// TRUNCATE deletes it. Every read that finds no row of a partition therefore reads the marker as
// well, and returns [launchlog.ErrOtherLog] if it is gone. A commit that only inserts reads the
// marker afterwards, so that it hands out nothing once the log was truncated. Lists read it each
// time. Steps on existing counters and launches need no extra request. A truncated log stays
// unusable: [Open] and [Migrate] refuse it until the keyspace is dropped.
//
// Even so, a TRUNCATE is not safe while apps are running. Stop them first, because otherwise:
//
//   - Nodes truncate one after another. Meanwhile a step may find a row on a node that has not yet
//     truncated, in an older version than the latest.
//   - A step that creates a partition at that moment leaves its rows there, and fails. Others that
//     find these rows continue from them, until they meet a partition without rows.
//   - With paxos_variant: v1 a read at that moment may bring the marker row back. Then the
//     truncation goes unnoticed.
//
// The role needs SELECT and MODIFY on the keyspace, and for package cassandradoctor also SELECT on
// the table system_views.settings.
//
// Other databases speak Cassandra's protocol, but none of them was tested.
package cassandra
