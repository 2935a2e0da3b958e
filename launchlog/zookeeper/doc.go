// Package zookeeper is a launchlog.Store in Apache ZooKeeper, by github.com/go-zookeeper/zk. It was
// tried with ZooKeeper 3.8 and 3.9. It is a module of its own, so that whoever uses another store
// has nothing of ZooKeeper in his go.sum.
//
//	config := zookeeper.Config{Servers: []string{"zk1:2181", "zk2:2181", "zk3:2181"}}
//	from, to, err := zookeeper.Migrate(ctx, config) // once, by an operator
//	store, err := zookeeper.Open(ctx, config)
//
// Every step is one transaction that compares the versions of the znodes that it writes. Reads are
// linearizable: see below. Nothing depends on a session, an ephemeral or sequential znode, a watch
// or a clock. What a majority acknowledged survives the loss of any minority.
//
// # Reads
//
// ZooKeeper answers reads from the server that is asked, which may be behind. Sync does not help
// where a leader was stopped or cut off: it answers Sync by itself until it learns that another one
// was elected. So every read waits for a transaction that changes nothing, and that a majority
// logs. Rows that belong together are read twice, until both times agree. Then they were so at one
// moment. So a read takes one to two times as long as a bare transaction, and a step that reads and
// writes two to three times. With 16 goroutines at once it is up to five times: the requests of a
// connection are answered in their order.
//
// # A server that does not answer
//
// All calls go to one server, on one connection. Where that says nothing for two thirds of the
// session's timeout, they go to the next one: after 2.7 s by default. A transaction whose
// answer was lost is sent again as it is. It compares what it changes, so it is carried out once at
// most, however late a server carries out the first one. The znodes then tell what became of it.
// Where others have overwritten all of them since, nobody can tell, and the error says that it is
// in doubt. That concerns steps that make no znode, such as the ranges of counters, which are left
// unused then. A launch or a generator number is always settled.
//
// A server that is stopped or cut off costs a call 2 to 3 s. A leader costs as much as the ensemble
// takes to elect another one, which begins after tickTime × syncLimit. The default of 2 s × 5 is
// 10 s. With tickTime=500 and syncLimit=4, 2 s, the longest call of a test was 5.6 s. A call that
// no server answers ends after 6 s, and the launchlog.Log tries again within its budget.
//
// # Znodes and memory
//
// ZooKeeper keeps all znodes in the memory of each server. A znode of this log takes about 530
// bytes of Java's heap. A launch has 2 znodes, and 6 more at its first claim. A generator number
// has 2 more, and a counter 3. A full launch, with 100,000 generator numbers, has 200,179 znodes:
// 106 MB. With 99,999 launches of one claim each, a lap, it is about 420 MB. Give servers twice
// that, since they write snapshots of it.
//
// Children are spread over znodes between, so that no answer comes near jute.maxbuffer, 1 MB. The
// longest one of a full launch has 59 KB. Values are JSON, for people with zkCli.sh. Only
// [launchlog.Log.Trim] deletes znodes, those of claims, which are never made again. Nothing else
// may: a znode that is made again begins at version 1, and numbers would be handed out twice.
//
// All rows lie below a znode with a random name, which is made with the log and never again. Each
// read and each write finds out that it is there. So after the whole log was deleted, all steps of
// apps that run fail with [launchlog.ErrOtherLog], also where it was made anew. Stop the apps
// before you delete it: ZooKeeper deletes one znode after another, that one last.
//
// A row can be written 2,147,483,647 times, because ZooKeeper counts versions in 32 bits. Then
// steps on it fail. A counter that gives 100 ranges a second gets there after 248 days: take larger
// ranges, or a counter of another name.
//
// # Settings
//
//   - forceSync=yes, the default. With no, a server acknowledges what its disk does not have.
//   - jute.maxbuffer at its default of 1 MB, or more. A launch's data of 64 KiB fits.
//   - Snapshots and logs are kept until autopurge.purgeInterval, 0 by default, is set.
//   - A majority has to be on different disks and machines. An observer answers reads and passes
//     writes on. It adds nothing to safety, and may be among [Config].Servers.
//   - Dynamic reconfiguration is safe as long as ZooKeeper's own rules are kept. Name new
//     servers in [Config].Servers: those that are missing there are not asked.
//   - A user of the scheme digest owns the znodes that he made. Digest sends the password as it is:
//     use [Config].TLS.
//   - A quota of the path, where servers enforce it, makes steps fail when it is used up.
//   - An ensemble that is restored from a snapshot has lost what came after it: see package
//     launchlog.
//   - [Store.Now] is the leader's clock. Times of launches and claims are those of the process that
//     writes.
package zookeeper
