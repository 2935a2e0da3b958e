package importer

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
)

// source keeps a checksum of the part of a file that ends with a given record, while the record
// reader reads ahead.
type source struct {
	r       io.Reader
	pending bytes.Buffer // read, but not in the sum yet
	sum     hash.Hash
	at      int64 // bytes in the sum
}

// sumStep is how far the sum may be behind the records, whose bytes are kept until they are in it.
const sumStep = 64 << 10

func newSource(r io.Reader) *source { return &source{r: r, sum: sha256.New()} }

func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.pending.Write(p[:n])
	return n, err
}

// advance takes the file's first offset bytes, all of which were read, into the sum, once they are
// many. Offsets ascend from call to call.
func (s *source) advance(offset int64) {
	if offset-s.at >= sumStep {
		s.take(offset)
	}
}

func (s *source) take(offset int64) {
	s.sum.Write(s.pending.Next(int(offset - s.at)))
	s.at = offset
}

// checksum is that of the file's first offset bytes, as advance takes them.
func (s *source) checksum(offset int64) string {
	s.take(offset)
	return hex.EncodeToString(s.sum.Sum(nil))
}

// position is how far an import has come.
type position struct {
	rows   int64  // stored
	bytes  int64  // of the file, header included
	sha256 string // of these bytes
}

var (
	errChanged = errors.New(
		"the file does not begin with what was imported from it: start again with --restart")
	errFinished = errors.New(
		"the last import of the file is finished, and the file has changed since: import it " +
			"without --resume")
)

// skip reads the records that were stored, and checks that they are the same file's.
func skip(rec records, src *source, s *state) error {
	changed := errChanged
	if s.finished {
		changed = errFinished
	} else if s.rows == 0 {
		return nil
	}
	var scratch block
	for range s.rows {
		scratch.reset()
		if err := rec.read(&scratch); err != nil {
			return unlessRead(err, changed)
		}
		src.advance(rec.offset()) // what is not in the sum is kept in memory
	}
	if s.finished {
		if err := rec.read(&scratch); err != io.EOF {
			return unlessRead(err, changed)
		}
	}
	if rec.offset() != s.bytes || src.checksum(s.bytes) != s.sha256 {
		return changed
	}
	return nil
}

// unlessRead is changed, unless err says that the file could not be read.
func unlessRead(err, changed error) error {
	if err == nil || err == io.EOF || errors.As(err, new(*RecordError)) {
		return changed
	}
	return err
}

// reread reads the batch that is in doubt, and checks that it is the same.
func reread(rec records, src *source, s *state) (batch, error) {
	b := batch{
		fields: new(block),
		end:    position{s.doubt.Rows, s.doubt.Bytes, s.doubt.SHA256},
	}
	for range s.doubt.Rows - s.rows {
		if err := rec.read(b.fields); err != nil {
			return batch{}, unlessRead(err, errChanged)
		}
		b.rows++
	}
	if rec.offset() != s.doubt.Bytes || src.checksum(s.doubt.Bytes) != s.doubt.SHA256 {
		return batch{}, errChanged
	}
	return b, nil
}
