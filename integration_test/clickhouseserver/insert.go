package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ClickHouse/ch-go/proto"
)

// insert answers an INSERT whose rows the client sends: first with the columns, then with the
// outcome. It collects the rows in a file, because the engine reads them from one.
func (c *conn) insert(q proto.Query, ins insertion) error {
	columns, err := columnsOf(c.eng, fmt.Sprintf("SELECT %s FROM %s LIMIT 0", ins.columns,
		ins.table), q.Parameters)
	if err != nil {
		return err
	}
	if err := c.sendBlock(columns); err != nil {
		return err
	}
	path := filepath.Join(c.srv.insertDir,
		fmt.Sprintf("%d-%d.native", os.Getpid(), c.srv.inserts.Add(1)))
	rows, err := c.gather(path)
	defer os.Remove(path)
	if err == nil && rows > 0 {
		// Once all rows have arrived, they are inserted even if the client disconnects, as by the
		// real server.
		text := fmt.Sprintf("%s SELECT * FROM file(%s, 'Native')", ins.head, quote(path))
		err = c.sendResult(text, q.Parameters)
	}
	if err == nil || errors.Is(err, errCancelled) {
		proto.ServerCodeEndOfStream.Encode(&c.out)
		return nil
	}
	return err
}

var errCancelled = errors.New("the client canceled its INSERT")

// gather writes the blocks that a client sends to a file, and returns how many rows they have.
func (c *conn) gather(path string) (rows int, err error) {
	f, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	for {
		packet, err := c.packet()
		switch {
		case err != nil:
			return 0, err
		case packet == proto.ClientCodeCancel:
			return 0, errCancelled
		case packet != proto.ClientCodeData:
			return 0, fatal{&exception{
				codeUnexpectedPacket,
				fmt.Sprintf("Unexpected packet %d instead of a block to insert", packet),
			}}
		}
		b, err := c.readBlock()
		if err != nil || len(b.Columns) == 0 {
			return rows, err
		}
		if b.Rows() == 0 {
			continue
		}
		rows += b.Rows()
		var file proto.Buffer
		if err := b.Encode(&file, fileRevision); err != nil {
			return 0, err
		}
		if _, err := f.Write(file.Buf); err != nil {
			return 0, err
		}
	}
}
