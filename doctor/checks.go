package doctor

// A Check is something that is looked at.
type Check struct {
	Code   string `json:"check"`  // stays the same from release to release
	Looks  string `json:"looks"`  // at what, and why
	Remedy string `json:"remedy"` // what to do
}

// Checks lists the checks of all stores.
func Checks() []Check { return append([]Check(nil), checks...) }

var remedies = func() map[string]string {
	m := map[string]string{}
	for _, c := range checks {
		m[c.Code] = c.Remedy
	}
	return m
}()

var checks = []Check{
	// Any store.
	{
		Code:   "open",
		Looks:  "The launch log can be opened, as an app opens it.",
		Remedy: "Do what the message says. While it lasts, apps get no numbers.",
	},
	{
		Code: "clock",
		Looks: "This machine's clock is within 1 s of the store's. Beyond 30 s it is a finding: " +
			"claims refuse such a clock.",
		Remedy: "Run NTP on this machine and on the store's. Then look at the check " +
			"claims-ahead.",
	},
	{
		Code:  "launches",
		Looks: "Launch numbers are left, of 99,999. A note from 80 % on, a finding from 90 %.",
		Remedy: "Prepare a new namespace, for tables of its own. Used numbers are never given " +
			"out again.",
	},
	{
		Code: "generators",
		Looks: "Each running launch has generator numbers left, of 100,000. A note from 80 % on, " +
			"a finding from 90 %.",
		Remedy: "Start a new launch and restart its apps. Look for an app that restarts again " +
			"and again.",
	},
	{
		Code: "counters",
		Looks: "Each counter has numbers left, up to 2^63−1. A note from 80 % on, a finding " +
			"from 90 %.",
		Remedy: "Use a new counter, for a table of its own. See who raised this one so far.",
	},
	{
		Code: "claims",
		Looks: "Each pool has numbers to lend, of trace, sno and eightbyte. A note from 80 % on, " +
			"a finding from 90 %.",
		Remedy: "Give each process one generator, not one per request. Let eightbyte use another " +
			"cluster: see idmint claims clusters. See the check claims-ahead, too.",
	},
	{
		Code: "claims-ahead",
		Looks: "No number is locked for more than an hour, nor all of a pool, nor all short IDs. " +
			"A clock far ahead locks its number until that time comes. A floor far ahead locks " +
			"its pool.",
		Remedy: "Set the clock that was wrong. Wait until the time that the message names, or " +
			"get a number back: see idmint claims free. What a ceiling or an advance raised stays, " +
			"and so do floors and the counter short.",
	},
	{
		Code: "times-ahead",
		Looks: "No row has a time more than 30 s ahead. etcd, ZooKeeper and Cassandra take the " +
			"time of the process that writes, and none before an earlier one. So one clock far " +
			"ahead holds the times of all later rows, until its time comes.",
		Remedy: "Set the clock that was wrong. No number is in danger, and nothing repeats. " +
			"Leave the times of these rows out of account, or plan a new namespace, for tables " +
			"of its own.",
	},
	{
		Code: "decimal-order",
		Looks: "Decimal IDs still ascend from one deployment to the next. Their counters end at " +
			"922,337,202. Then they begin at 1 again. A note from 80 % on.",
		Remedy: "Nothing repeats. Order by a time column where order matters, or plan a new " +
			"namespace, for tables of its own.",
	},
	{
		Code: "identity",
		Looks: "The store is the one of the last look, by what it says of itself. A failover, " +
			"and many a restore, show in it.",
		Remedy: "If apps ran in between, end them. Run idmint advance. Then accept the store, " +
			"with --accept.",
	},
	{
		Code: "lost",
		Looks: "Launches, generator numbers and counters are no lower than at the last look, and " +
			"still the same ones. What was lost is given out again.",
		Remedy: "End the apps at once. Run idmint advance, with numbers beyond all that were ever " +
			"used. Start a new launch. Then accept the log, with --accept. If another launch is " +
			"named, its IDs may repeat those of the one before: look for both in your tables.",
	},

	// SQL databases.
	{
		Code:  "schema",
		Looks: "The tables have the version that this release uses.",
		Remedy: "For a new log, or an older one, run idmint migrate. If there was a log before, " +
			"look at the DSN first, or restore a backup and advance the log. If the tables are " +
			"newer, use that idmint.",
	},
	{
		Code: "tables",
		Looks: "All tables are there, and kept as the migrations made them: logged in " +
			"PostgreSQL, InnoDB in MySQL.",
		Remedy: "Stop the apps. Restore the missing tables from a backup and advance the log, or " +
			"convert them: ALTER TABLE … SET LOGGED, or ENGINE = InnoDB.",
	},
	{
		Code: "triggers",
		Looks: "The triggers are there and fire, which refuse to delete or to lower what was " +
			"used.",
		Remedy: "Find out who dropped or disabled them, and what was deleted since. Then enable " +
			"them, or run their CREATE TRIGGER again: it is in the file that is named, in the " +
			"folder migrations of idmint's source.",
	},
	{
		Code:  "writable",
		Looks: "The database takes writes: it is no standby, and not read-only.",
		Remedy: "Name the primary in the DSN. After a failover, promote this server, and advance " +
			"the log.",
	},
	{
		Code: "rights",
		Looks: "The role may SELECT, INSERT and UPDATE, and sees all rows: in PostgreSQL no " +
			"row-level security applies to it. More is advice: rights to delete, to truncate or to " +
			"drop get past the triggers.",
		Remedy: "Grant SELECT, INSERT and UPDATE on the tables to the apps' role, and no more. " +
			"Migrate by another role, which owns them. Disable row-level security on the tables, or " +
			"give the role BYPASSRLS.",
	},

	{
		Code: "rows",
		Looks: "No launch and no claim of a running launch is ahead of the number that is given out " +
			"next. Where one is, all starts or claims fail.",
		Remedy: "Find out who wrote to the tables: apps do so by the launch log alone. A logical " +
			"replica that took over may lack rows. Then run the statement.",
	},

	// PostgreSQL.
	{
		Code:   "postgres.version",
		Looks:  "PostgreSQL is 12 or later.",
		Remedy: "Upgrade the server.",
	},
	{
		Code: "postgres.fsync",
		Looks: "fsync is on. Without it a crash of the machine loses numbers that were given " +
			"out.",
		Remedy: "Set fsync = on and reload. Advance the log if the machine crashed meanwhile.",
	},
	{
		Code:  "postgres.full_page_writes",
		Looks: "full_page_writes is on. Without it a crash may leave torn pages.",
		Remedy: "Set full_page_writes = on and reload, unless the file system never tears a " +
			"page.",
	},
	{
		Code: "postgres.synchronous_commit",
		Looks: "synchronous_commit is not off by default. The launch log sets it itself. Rows of " +
			"the app that share the database may be lost in a crash.",
		Remedy: "Set synchronous_commit = on for the rows that matter.",
	},
	{
		Code: "postgres.standbys",
		Looks: "A synchronous standby exists where standbys do, and is connected. A failover to " +
			"one that lacks the newest rows repeats numbers.",
		Remedy: "Name a standby in synchronous_standby_names, and fail over to no other. Without " +
			"one, treat a failover as a restore: advance the log.",
	},
	{
		Code: "postgres.connections",
		Looks: "Less than 80 % of max_connections are in use. Each process that opens the log by a " +
			"DSN has up to two, and closes them after a minute without use.",
		Remedy: "Raise max_connections, put a pooler such as PgBouncer in front, or give the log " +
			"the app's own pool.",
	},
	{
		Code:   "postgres.checksums",
		Looks:  "Data checksums are on. They show damage of a disk before it spreads.",
		Remedy: "Stop the server, and run pg_checksums --enable.",
	},

	// MySQL and MariaDB.
	{
		Code:   "mysql.version",
		Looks:  "MySQL is 8.0.29 or later, MariaDB 10.6 or later.",
		Remedy: "Upgrade the server.",
	},
	{
		Code: "mysql.flush_log",
		Looks: "innodb_flush_log_at_trx_commit is 1. Otherwise a crash loses numbers that were " +
			"given out.",
		Remedy: "Set innodb_flush_log_at_trx_commit = 1, in the server's configuration as well.",
	},
	{
		Code: "mysql.sync_binlog",
		Looks: "sync_binlog is 1 where there is a binary log. Otherwise a crash loses numbers " +
			"that were given out, or parts replicas from the primary.",
		Remedy: "Set sync_binlog = 1, in the server's configuration as well. MariaDB's default " +
			"is 0.",
	},
	{
		Code:   "mysql.doublewrite",
		Looks:  "innodb_doublewrite is on. Without it a crash may leave torn pages.",
		Remedy: "Set innodb_doublewrite = ON, unless the file system never tears a page.",
	},
	{
		Code: "mysql.binlog_format",
		Looks: "binlog_format is ROW or MIXED. With STATEMENT the server refuses writes of READ " +
			"COMMITTED transactions, which the launch log's are.",
		Remedy: "Set binlog_format = ROW, in the server's configuration as well.",
	},
	{
		Code: "mysql.galera",
		Looks: "The server is no node of a Galera cluster. There acknowledged numbers may be " +
			"lost, so the log is not certified on it.",
		Remedy: "Keep the log on a server outside of the cluster. Until then, have all processes " +
			"write to one node, and treat a change of the node as a restore.",
	},
	{
		Code: "mysql.replicas",
		Looks: "No asynchronous replica is connected. A failover to one that lacks the newest " +
			"rows repeats numbers.",
		Remedy: "Use semi-synchronous replication, and fail over to such a replica alone. " +
			"Otherwise treat a failover as a restore: advance the log.",
	},

	// SQLite.
	{
		Code: "sqlite.file",
		Looks: "The file is on a local file system and has one name. Elsewhere SQLite's locks do " +
			"not hold.",
		Remedy: "Move the file to a local file system. Mount its folder into containers, not the " +
			"file alone.",
	},
	{
		Code: "sqlite.journal",
		Looks: "The file has a rollback journal. In WAL mode acknowledged numbers are lost with " +
			"PATH-wal, and apps do not open the log.",
		Remedy: "Keep the log in a file of its own, such as launches.db, or set PRAGMA " +
			"journal_mode = DELETE. Find out who set WAL.",
	},
	{
		Code: "sqlite.synchronous",
		Looks: "The connection's synchronous is FULL or EXTRA. Otherwise a crash of the machine " +
			"loses commits. The launch log's own connections set it.",
		Remedy: "Open the pool with sqlite.DSN, which sets it.",
	},
	{
		Code:  "sqlite.integrity",
		Looks: "SQLite finds no damage in the launch log's tables.",
		Remedy: "Stop the apps. Restore a backup, or recover the file with sqlite3's .recover. " +
			"Then advance the log.",
	},

	// etcd.
	{
		Code: "etcd.version",
		Looks: "etcd is 3.4 or later, and not 3.5.0 to 3.5.2. Those may corrupt data where a " +
			"process is killed under load.",
		Remedy: "Upgrade the cluster.",
	},
	{
		Code: "etcd.members",
		Looks: "Three voting members or more, which all answer and are endpoints of the DSN. A " +
			"finding where one more that goes stops the log.",
		Remedy: "Start the members that are down, or replace them one by one. Name all members " +
			"in the DSN. A single member loses the log with its disk.",
	},
	{
		Code:  "etcd.alarms",
		Looks: "No member has raised an alarm: NOSPACE, at which all writes fail, or CORRUPT.",
		Remedy: "For NOSPACE, compact, defragment, and run etcdctl alarm disarm. For CORRUPT, " +
			"replace the member that etcd's log names, before anything else.",
	},
	{
		Code: "etcd.quota",
		Looks: "The database is below its quota. At the quota all writes fail. A note from 80 % " +
			"on, a finding from 90 %.",
		Remedy: "Switch on compaction, and defragment. Or raise --quota-backend-bytes.",
	},
	{
		Code: "etcd.compaction",
		Looks: "No more than 100,000 revisions are kept: compaction is on. Without it the " +
			"database grows with every step.",
		Remedy: "Start etcd with --auto-compaction-mode=revision " +
			"--auto-compaction-retention=10000.",
	},
	{
		Code: "etcd.rights",
		Looks: "Authentication is on, and the user may read and write the keys of the prefix. " +
			"Who is root may delete them too.",
		Remedy: "Make a user with the role readwrite on the prefix, with a colon at its end: " +
			"etcdctl role grant-permission NAME readwrite PREFIX: --prefix.",
	},

	// ZooKeeper.
	{
		Code:   "zookeeper.version",
		Looks:  "ZooKeeper is 3.8 or later: older ones were not tried.",
		Remedy: "Upgrade the servers.",
	},
	{
		Code: "zookeeper.servers",
		Looks: "Three voting servers or more, which all answer and are named in the DSN. A " +
			"finding where one more that goes stops the log.",
		Remedy: "Start the servers that are down. Name all of them in the DSN. A standalone " +
			"server loses the log with its disk.",
	},
	{
		Code: "zookeeper.force_sync",
		Looks: "The servers write to the disk before they acknowledge, as forceSync=yes has it. " +
			"Otherwise a crash of the machines loses numbers that were given out.",
		Remedy: "Take forceSync=no out of zoo.cfg, and -Dzookeeper.forceSync=no out of the " +
			"servers' options. Restart them one by one.",
	},
	{
		Code: "zookeeper.failover",
		Looks: "tickTime × syncLimit is 2 s or less. A leader that stops costs a call that time " +
			"and some seconds. With more, calls end with an error before another one leads.",
		Remedy: "Set tickTime=500 and syncLimit=4 in zoo.cfg, where the network between the " +
			"servers bears it.",
	},
	{
		Code: "zookeeper.memory",
		Looks: "The znodes take up less than half of a server's heap. It keeps all of them, and " +
			"snapshots take as much. A note from 80 % of that half on, a finding from 90 %.",
		Remedy: "Raise -Xmx of the servers, before the next launch or claims fill it. Nothing " +
			"of a log may be deleted.",
	},
	{
		Code: "zookeeper.quota",
		Looks: "The path, and what is above it, has no quota that is nearly used up. Where " +
			"servers enforce one, writes fail then.",
		Remedy: "Raise or delete the quota, by zkCli.sh setquota or delquota.",
	},
	{
		Code: "zookeeper.acl",
		Looks: "The znodes of the log have ACLs: only the apps' user may write and delete them. " +
			"That user may.",
		Remedy: "Name a user and a password in the DSN before migrate. For a log that is there, " +
			"set the ACLs of its znodes by zkCli.sh setAcl -R.",
	},

	// Cassandra.
	{
		Code:   "cassandra.version",
		Looks:  "Cassandra is 4.1 or later: v2 of Paxos came with it.",
		Remedy: "Upgrade the nodes.",
	},
	{
		Code: "cassandra.replication",
		Looks: "The keyspace has three replicas or more, on as many nodes, and writes them to " +
			"the commit log. Otherwise a node that is lost takes numbers along, or stops the log.",
		Remedy: "ALTER KEYSPACE with NetworkTopologyStrategy, 3 for each data centre, and " +
			"durable_writes = true. Then run nodetool repair, before anything else.",
	},
	{
		Code:   "cassandra.nodes",
		Looks:  "All nodes answer. A finding where one more replica that goes stops the log.",
		Remedy: "Start the nodes that are down. Replace those that are lost, and repair.",
	},
	{
		Code: "cassandra.paxos",
		Looks: "paxos_variant is v2 on all nodes. Variants without linearizable reads give up " +
			"what the log relies on. With v1 steps are slower in contention.",
		Remedy: "Set paxos_variant: v2 in cassandra.yaml of all nodes, as Cassandra's NEWS.txt " +
			"says, with repairs of Paxos.",
	},
	{
		Code: "cassandra.commitlog",
		Looks: "commitlog_sync is batch or group. With periodic, nodes that fail at once lose " +
			"their last 10 s: that is a finding where fewer than three replicas are there.",
		Remedy: "Set commitlog_sync: batch, or group, in cassandra.yaml of all nodes.",
	},
	{
		Code: "cassandra.clocks",
		Looks: "The clocks of the nodes agree with this machine's within 1 s. Beyond 30 s it is " +
			"a finding: claims may refuse, or lock numbers.",
		Remedy: "Run NTP on all nodes.",
	},
	{
		Code:  "cassandra.table",
		Looks: "Rows of the table never expire. Rows that expire would be given out again.",
		Remedy: "ALTER TABLE … WITH default_time_to_live = 0. Advance the log if rows have " +
			"expired.",
	},
	{
		Code: "cassandra.rights",
		Looks: "Roles are checked, and the role has SELECT and MODIFY on the keyspace. More is " +
			"advice: who may alter or drop the table may lose the log.",
		Remedy: "Set authenticator and authorizer. Grant SELECT and MODIFY on the keyspace to " +
			"the apps' role, and migrate by another role.",
	},
}
