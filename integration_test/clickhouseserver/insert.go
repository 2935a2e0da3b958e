package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// insert answers an INSERT whose rows the client sends: the columns, then what becomes of the rows.
// They are in a file until all are there, for the engine reads them from one.
func (c *conn) insert(q query, ins insertion) error {
	columns, err := header(c.eng, fmt.Sprintf("SELECT %s FROM %s LIMIT 0", ins.columns, ins.table),
		q.parameters)
	if err != nil {
		return err
	}
	if err := c.sendHeader(columns); err != nil {
		return err
	}
	if err := c.out.Flush(); err != nil {
		return err
	}
	path := filepath.Join(c.srv.insertDir,
		fmt.Sprintf("%d-%d.native", os.Getpid(), c.srv.inserts.Add(1)))
	rows, err := c.gather(path)
	defer os.Remove(path)
	if errors.Is(err, errCancelled) || err == nil && rows == 0 {
		c.out.uvarint(serverEndOfStream)
		return nil
	}
	if err != nil {
		return err
	}
	// Rows that are all there are inserted even if the client goes now, as by the server.
	text := fmt.Sprintf("%s SELECT * FROM file(%s, 'Native')", ins.head, quote(path))
	if err := c.sendResult(text, q.parameters); err != nil {
		return err
	}
	c.out.uvarint(serverEndOfStream)
	return nil
}

var errCancelled = errors.New("the client cancels its INSERT")

// gather writes the blocks that a client sends to a file, and returns the number of their rows.
func (c *conn) gather(path string) (rows uint64, err error) {
	f, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriterSize(f, 1<<18)
	d := decoder{source: c.in}
	for {
		switch packet := d.uvarint(); {
		case d.err != nil:
			return 0, d.err
		case packet == clientCancel:
			return 0, errCancelled
		case packet != clientData:
			return 0, fatal{&exception{
				codeUnexpectedPacket,
				fmt.Sprintf("Unexpected packet %d instead of a block to insert", packet),
			}}
		}
		columns, n, err := c.readBlock(w)
		if err != nil {
			return 0, err
		}
		if len(columns) == 0 {
			return rows, w.Flush()
		}
		rows += n
	}
}
