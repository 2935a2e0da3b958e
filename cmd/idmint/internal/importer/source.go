package importer

import (
	"errors"
	"io"
)

// A position is how far an import has come.
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

// skip reads the records that were stored, and checks that they come from the same file.
func skip(rec records, s *state) error {
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
	}
	if s.finished {
		if err := rec.read(&scratch); err != io.EOF {
			return unlessRead(err, changed)
		}
	}
	if rec.offset() != s.bytes || rec.checksum() != s.sha256 {
		return changed
	}
	return nil
}

// unlessRead returns changed, unless err says that the file could not be read.
func unlessRead(err, changed error) error {
	if err == nil || err == io.EOF || errors.As(err, new(*RecordError)) {
		return changed
	}
	return err
}

// reread reads the batch that is in doubt, and checks that it has not changed.
func reread(rec records, s *state) (batch, error) {
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
	if rec.offset() != s.doubt.Bytes || rec.checksum() != s.doubt.SHA256 {
		return batch{}, errChanged
	}
	return b, nil
}
