// Package zookeeper is a launchlog.Store that keeps a launch log in Apache ZooKeeper, through
// github.com/go-zookeeper/zk, and is tested with ZooKeeper 3.8 and 3.9. It is a separate module, so
// that ZooKeeper's dependencies appear only in the go.sum of those who use it.
//
//	config := zookeeper.Config{Servers: []string{"zk1:2181", "zk2:2181", "zk3:2181"}}
//	from, to, err := zookeeper.Migrate(ctx, config) // once, by an operator
//	store, err := zookeeper.Open(ctx, config)
//
// Every step is one transaction that compares the versions of the znodes that it writes, and reads
// are linearizable, as described below. The log depends on no session, ephemeral or sequential
// znode, watch, or clock. Everything that a majority has acknowledged survives the loss of any
// minority.
//
// # Reads
//
// A ZooKeeper server answers reads from its own state, which may be behind. Sync does not help if a
// leader was stopped or cut off, because that leader answers Sync alone until it learns that
// another one was elected. Every read therefore waits for a transaction that changes nothing but
// that a majority logs. Rows that belong together are read repeatedly until two reads agree, which
// shows that they all had these values at one moment. A read therefore takes one to two times as
// long as a bare transaction, and a step that reads and writes two to three times. With 16
// concurrent goroutines it takes up to five times as long, because a connection answers its
// requests in order.
//
// # If a server does not answer
//
// All calls go to one server, on one connection. If that server is silent for two thirds of the
// session timeout, which is 2.7 s by default, they go to the next one. A transaction whose answer
// was lost is sent again unchanged. Because it compares the versions that it changes, it is
// executed at most once, however late a server executes the first attempt. The znodes then show
// whether it was executed. If others have overwritten all of them since, the result cannot be
// determined, and the error says that the step is in doubt. That can only happen to steps that
// create no znode, such as reserving a counter's range, which then stays unused. A launch or a
// generator number is never in doubt.
//
// A stopped or unreachable server delays a call by 2 to 3 s. If it is the leader, the delay is the
// time until the ensemble elects another one, which begins after tickTime × syncLimit. With the
// default of 2 s × 5 that is 10 s. With tickTime=500 and syncLimit=4, which is 2 s, the longest
// call of a test was 5.6 s. A call that no server answers ends after 6 s. The launchlog.Log then
// retries within its budget.
//
// # Znodes and memory
//
// ZooKeeper keeps all znodes in the memory of each server, and a znode of this log takes about 530
// bytes of Java's heap. A launch has 2 znodes, and 6 more from its first claim on. A generator
// number adds 2, and a counter 3. A full launch, with 100,000 generator numbers, has 200,179
// znodes, which take 106 MB. A lap of 99,999 launches with one claim each takes about 420 MB. Give
// servers twice that, because they also write snapshots.
//
// Children are spread over intermediate znodes, so that no answer approaches the 1 MB of
// jute.maxbuffer: the longest one for a full launch has 59 KB. Values are JSON, so that people can
// read them with zkCli.sh.
//
// Only [launchlog.Log.Trim] deletes znodes, namely of claims, which are never created again.
// Nothing else may delete any, because a recreated znode starts at version 1, and numbers would
// then be handed out twice.
//
// All rows are below a znode with a random name, which is created with the log and never again.
// Each read and each write checks that this znode exists. After the whole log was deleted, all
// steps of running apps therefore fail with [launchlog.ErrOtherLog], even if the log was recreated.
// Stop the apps before you delete it, because ZooKeeper deletes one znode after another, and this
// one last.
//
// A row can be written 2,147,483,647 times, because ZooKeeper counts versions in 32 bits. After
// that, steps on it fail. A counter that hands out 100 ranges a second gets there after 248 days,
// so use larger ranges, or continue with a counter of another name.
//
// # Settings
//
//   - forceSync must be yes, the default. Otherwise a server acknowledges what is not on its disk
//     yet.
//   - jute.maxbuffer must be 1 MB, the default, or more. A launch's data of 64 KiB fits.
//   - Snapshots and logs are kept forever unless autopurge.purgeInterval, which is 0 by default, is
//     set.
//   - The servers of a majority must be on different disks and machines. An observer answers reads
//     and forwards writes. It adds nothing to safety, but may be among [Config].Servers.
//   - Dynamic reconfiguration is safe as long as ZooKeeper's own rules are followed. Name new
//     servers in [Config].Servers, because no others are asked.
//   - With the scheme digest, a user owns the znodes that it created. Digest sends the password
//     unencrypted, so use [Config].TLS.
//   - If servers enforce a quota of the path, steps fail once it is used up.
//   - An ensemble that was restored from a snapshot has lost everything after it: see package
//     launchlog.
//   - [Store.Now] is the leader's clock. Times of launches and claims are those of the process that
//     writes them.
package zookeeper
