// Package importer gives every row of a file a primary key and stores it in a table.
//
// Rows are stored in batches. In SQLite, PostgreSQL, MySQL and MariaDB each batch is one
// transaction, which also records how far the file has come. An import that was killed therefore
// continues where its last committed batch ended, without storing a row twice or losing one. A
// SHA-256 identifies the part of the file that was stored.
//
// Memory is limited for any file. A record has at most 64 MiB and 131,072 fields; more is a
// [RecordError]. A batch ends with its last row, or with the row that brings it to 8 MiB of the
// file. Two batches are in memory, because one is read while the other is stored. More columns than
// a table may have are a [ColumnsError], which is returned before anything is created.
//
// Rows are stored by each database's fastest method: COPY in PostgreSQL, LOAD DATA LOCAL in MySQL
// and MariaDB, and blocks in ClickHouse. LOAD DATA would change a value that does not fit, with a
// warning. A batch with a warning is therefore inserted instead, and so is the rest of the import.
// INSERT rejects such a row, or gives a note about it, which is an error here. Because the server
// changes other values silently, columns of numbers, times, ENUM and SET are read back and compared
// with what was sent before the batch is committed.
//
// A rejected row is a [RowError]. If the database does not say which row it was, the statement is
// repeated row by row. Rows that a table leaves out without an error are a [LeftOutError].
//
// ClickHouse has no transactions, so a batch is one block there, and the launch log's database
// records how far the file has come. Before a run sends a batch, it records the IDs of the batch
// there. If the import is killed in between, the run that resumes it looks for these IDs. It sends
// a missing batch again, with the same IDs and under the same deduplication token, so that a block
// that is still on its way is not stored twice. This holds for the newest 10,000 blocks of the
// table, on one server, and only as far as ClickHouse keeps what it acknowledged: by default it
// does not sync that to the disk.
package importer
