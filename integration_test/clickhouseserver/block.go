package main

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"time"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/ClickHouse/clickhouse-go/v2/lib/column"
	native "github.com/ClickHouse/clickhouse-go/v2/lib/proto"
)

// revision is the revision of the server's protocol, the first in which clients bind parameters and
// see elapsed time. Later revisions add chunks and versions that no client needs.
const revision = 54460

// fileRevision is the revision for blocks in files, which clients do not see.
const fileRevision = 0

func newBlock() *native.Block {
	return &native.Block{ServerContext: &column.ServerContext{Timezone: time.UTC}}
}

// decode reads a block with the column types of clickhouse-go.
func decode(from *proto.Reader, revision uint64) (*native.Block, error) {
	b := newBlock()
	return b, carried(b.Decode(from, revision))
}

// carried returns an exception for the error that clickhouse-go does not know a column's type.
func carried(err error) error {
	var unsupported *column.UnsupportedColumnTypeError
	if errors.As(err, &unsupported) {
		return &exception{codeNotImplemented, "the stand-in: " + err.Error()}
	}
	return err
}

// blocks reads the blocks of a file.
func blocks(file []byte) iter.Seq2[*native.Block, error] {
	return func(yield func(*native.Block, error) bool) {
		rest := bytes.NewReader(file)
		from := proto.NewReader(rest)
		for {
			b, err := decode(from, fileRevision)
			if errors.Is(err, io.EOF) && rest.Len() == 0 || !yield(b, err) || err != nil {
				return
			}
		}
	}
}

// encode writes a block to a client as clickhouse-go does, with two differences: clickhouse-go
// would write the state of columns without rows, and no value for a NULL without a type.
func encode(to *proto.Buffer, b *native.Block) error {
	if err := b.EncodeHeader(to, revision); err != nil {
		return err
	}
	for i, col := range b.Columns {
		if b.Rows() == 0 {
			to.PutString(col.Name())
			to.PutString(string(col.Type()))
			to.PutBool(false) // the usual serialization
			continue
		}
		if err := b.EncodeColumn(to, revision, i); err != nil {
			return err
		}
		if col.Type() == "Nullable(Nothing)" {
			to.PutRaw(make([]byte, b.Rows()))
		}
	}
	return nil
}

// header returns a block with the same columns and no rows.
func header(b *native.Block) (*native.Block, error) {
	h := newBlock()
	for _, col := range b.Columns {
		if err := h.AddColumn(col.Name(), col.Type()); err != nil {
			return nil, err
		}
	}
	return h, nil
}
