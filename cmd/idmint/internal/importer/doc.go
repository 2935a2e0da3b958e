// Package importer gives every row of a file a primary key and stores it in a table.
//
// Rows are stored in batches. In SQLite, PostgreSQL, MySQL and MariaDB each batch is one
// transaction, which also writes how far the file has come. So an import that was killed goes on
// where its last committed batch ended: nothing twice, nothing lost. A SHA-256 identifies the part
// of the file that was stored.
//
// A file takes no more memory than its limits allow, whatever it holds. A record has at most 64 MiB
// and 131,072 fields; more is a [RecordError]. A batch ends with its last row, or with the row
// that brings it to 8 MiB of the file. Two batches are in memory: one is read while the other is
// stored. More columns than a table may have are a [ColumnsError], before anything is made.
//
// Rows go the databases' fast ways: COPY of PostgreSQL, LOAD DATA LOCAL of MySQL and MariaDB,
// blocks of ClickHouse. LOAD DATA would change a value that does not fit, with a warning. A batch
// with a warning is not loaded, but inserted. INSERT refuses such a row, or gives a note about it,
// which is an error here. The rest of the import is inserted as well. The server changes other values
// without telling. So columns of numbers, times, ENUM and SET are read and compared with what was
// sent, before the batch is committed.
//
// A row that is refused is a [RowError]. Where the database does not name it, the statement goes
// again row by row. Rows that a table leaves out without an error are a [LeftOutError].
//
// ClickHouse has no transactions. A batch is one block there. The record of how far the file has
// come is in another database, the launch log's. A run notes there which IDs a batch will have
// before it sends it. An import may be killed in between. Whoever resumes it looks for these IDs. A
// batch that is not there is sent once more, with the same IDs and under the same deduplication
// token. So a block that is still under way is not stored a second time. This holds for the newest
// 10,000 blocks of the table, on one server, as far as ClickHouse keeps what it acknowledged. By
// its defaults it does not sync that to the disk.
package importer
