// Package importer gives every row of a file a primary key and stores it in a table.
//
// Rows are stored in batches. Each batch is one transaction that also writes how far the file has come, so an import that is
// killed goes on where its last committed batch ended: nothing twice, nothing lost. What identifies the part of the file that
// was stored is its SHA-256.
package importer
