package importer

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
)

// source keeps a checksum of the part of a file that ends with a given record, while the record reader reads ahead.
type source struct {
	r       io.Reader
	pending bytes.Buffer // read, but not in the sum yet
	sum     hash.Hash
	at      int64 // bytes in the sum
}

func newSource(r io.Reader) *source { return &source{r: r, sum: sha256.New()} }

func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.pending.Write(p[:n])
	return n, err
}

// checksum is that of the file's first offset bytes, all of which were read. Offsets ascend from call to call.
func (s *source) checksum(offset int64) string {
	s.sum.Write(s.pending.Next(int(offset - s.at)))
	s.at = offset
	return hex.EncodeToString(s.sum.Sum(nil))
}

// position is how far an import has come.
type position struct {
	rows   int64  // stored
	bytes  int64  // of the file, header included
	sha256 string // of these bytes
}

var errChanged = errors.New("the file does not begin with what was imported from it: start again with --restart")

// skip reads records up to a position, and checks that it is the same file's. The fields are not looked at.
func skip(rec records, src *source, to position) error {
	if to.rows == 0 {
		return nil
	}
	for range to.rows {
		if _, err := rec.read(); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return fmt.Errorf("%w: %w", errChanged, err)
		}
	}
	if rec.offset() != to.bytes || src.checksum(to.bytes) != to.sha256 {
		return errChanged
	}
	return nil
}
