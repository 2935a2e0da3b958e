// Package etcd is a launchlog.Store that keeps a launch log in etcd, through
// go.etcd.io/etcd/client/v3, and is tested with etcd 3.7. It is a separate module, so that etcd's
// dependencies appear only in the go.sum of those who use it.
//
//	config := etcd.Config{Endpoints: []string{"etcd1:2379", "etcd2:2379", "etcd3:2379"}}
//	from, to, err := etcd.Migrate(ctx, config) // once, by an operator
//	store, err := etcd.Open(ctx, config)
//
// Every step is one transaction that compares the versions of the keys that it writes, and reads
// are linearizable. The log depends on no lease, lock or clock. Everything that a majority has
// acknowledged survives the loss of any minority.
//
// # If a node does not answer
//
// A call goes to the node that answered last. If that node is silent for a second, the same call
// goes to the next one. Sending it twice is safe because its transaction is executed at most once.
// A stopped or unreachable node therefore delays a call by at most 3 s, as long as a majority
// answers. Name all nodes in [Config].Endpoints, because no others are asked.
//
// A call that no node answers ends after 5 s, and the launchlog.Log retries within its budget.
//
// # Keys
//
// All keys begin with [Config].Prefix and a colon, which no prefix contains, so logs with different
// prefixes do not overlap, even /a and /a/b. A launch has three keys. A generator number that is
// taken has two, a counter two. Values are JSON, so that people can read them with etcdctl.
//
// Only [launchlog.Log.Trim] deletes keys, namely of claims, which are never written again. Nothing
// else may delete any, because a deleted key starts again at version 1, and numbers would then be
// handed out twice.
//
// Each step also compares the log's schema row, which contains a random word. If the whole log was
// deleted or recreated, all steps of running apps fail with [launchlog.ErrOtherLog].
//
// # Settings
//
//   - etcd keeps every version of a key until it is compacted, and without compaction the database
//     grows until it reaches its quota. Turn compaction on, for example with
//     --auto-compaction-mode=revision --auto-compaction-retention=10000.
//   - The quota, --quota-backend-bytes, is 2 GiB by default. A full launch, with 100,000 generator
//     numbers, takes about 75 MB. When the quota is reached, steps fail with [ErrNoSpace], except
//     for a trim.
//   - The user needs readwrite permission on the prefix including the colon at its end.
//   - Transactions have up to 128 operations, and requests up to 1 MiB. etcd allows both by
//     default, so do not lower --max-txn-ops and --max-request-bytes.
//   - A cluster that was restored from a snapshot has lost everything after it. Package launchlog
//     describes what to do then.
//   - etcd has no clock that clients can read. Each time is the clock of the process that writes
//     it, but is never before an earlier time of the same launch, counter or list of launches.
package etcd
