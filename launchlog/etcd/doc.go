// Package etcd is a launchlog.Store in etcd, by go.etcd.io/etcd/client/v3. Its tests run on etcd
// 3.7. It is a module of its own, so that whoever uses another store has nothing of etcd in his
// go.sum.
//
//	config := etcd.Config{Endpoints: []string{"etcd1:2379", "etcd2:2379", "etcd3:2379"}}
//	from, to, err := etcd.Migrate(ctx, config) // once, by an operator
//	store, err := etcd.Open(ctx, config)
//
// Every step is one transaction that compares the versions of the keys that it writes. Reads are
// linearizable. Nothing depends on a lease, a lock or a clock. What a majority acknowledged
// survives the loss of any minority.
//
// # A node that does not answer
//
// A call goes to the node that answered last. Where that says nothing for a second, the same call
// goes to the next node. The call may be sent twice, because its transaction is carried out once at
// most. So a node that is stopped or cut off costs a call 3 s at most, while a majority answers.
// Name all nodes in [Config].Endpoints: one that is missing there is not asked.
//
// A call that no node answers ends after 5 s, and the launchlog.Log tries again within its budget.
//
// # Keys
//
// All keys begin with [Config].Prefix and a colon, which no prefix has. So the logs of two prefixes
// are apart, also /a and /a/b. A launch has three keys. A generator number that is taken has two, a
// counter two. Values are JSON, for people with etcdctl. Only [launchlog.Log.Trim] deletes keys,
// those of claims, which are never written again. Nothing else may: a key that is deleted begins
// again at version 1, and numbers would be handed out twice.
//
// Each step compares the log's schema row, which has a random word. So where the whole log was
// deleted, or made anew, all steps of apps that run fail with [launchlog.ErrOtherLog].
//
// # Settings
//
//   - etcd keeps every version of a key until it is compacted. Switch that on, as with
//     --auto-compaction-mode=revision --auto-compaction-retention=10000. Without it the database
//     grows until it reaches its quota.
//   - The quota, --quota-backend-bytes, is 2 GiB by default. A full launch, with 100,000 generator
//     numbers, takes about 75 MB. Where the quota is reached, steps fail with [ErrNoSpace], except
//     for a trim.
//   - The user needs readwrite on the prefix, with a colon at its end.
//   - Transactions have up to 128 operations and requests up to 1 MiB, which etcd's defaults allow.
//     Do not lower --max-txn-ops and --max-request-bytes.
//   - A cluster that is restored from a snapshot has lost what came after it. Package launchlog
//     says what to do then.
//   - etcd has no clock that can be asked. Times are those of the process that writes, and none is
//     before an earlier one of the same launch, counter or list of launches.
package etcd
