package zookeeper

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
)

// Package zk trusts the lengths and counts that a server sends. It allocates memory for them before
// it has read a byte, and panics on a frame that is too short for its own contents. The wire
// therefore passes on only whole frames that package zk can decode.

// maxFrame limits the size of a frame, although the children of a znode are spread so that no
// answer has 1 MB.
const maxFrame = 16 << 20

// Requests whose answers contain a length, a count, or a flag.
const opData, opACL, opChildren, opTransaction = 4, 6, 12, 14

// header is the length of the header of a frame that answers a request.
const header = 16

var errFrame = errors.New("the server's answer does not follow ZooKeeper's protocol")

// Write notes the kind of the request, each of which package zk sends with one call.
func (w *wire) Write(p []byte) (int, error) {
	if w.greeted.Load() && len(p) >= 12 {
		w.asked.Store(binary.BigEndian.Uint32(p[4:]), binary.BigEndian.Uint32(p[8:]))
	}
	return w.Conn.Write(p)
}

// Read implements net.Conn.
func (w *wire) Read(p []byte) (int, error) {
	if w.frame.Len() == 0 {
		if err := w.receive(); err != nil {
			return 0, err
		}
	}
	return w.frame.Read(p)
}

// receive reads a frame, and allocates memory only as bytes arrive.
func (w *wire) receive() error {
	w.frame = bytes.Buffer{}
	if _, err := io.CopyN(&w.frame, w.Conn, 4); err != nil {
		return err
	}
	length := binary.BigEndian.Uint32(w.frame.Bytes())
	if length < header || length > maxFrame {
		return errFrame
	}
	if _, err := io.CopyN(&w.frame, w.Conn, int64(length)); err != nil {
		return err
	}
	b := w.frame.Bytes()[4:]
	if !w.greeted.Swap(true) { // the first frame has the session's timeout and password
		if int32(binary.BigEndian.Uint32(b[4:])) <= 0 || !sound(opData, b[header:]) {
			return errFrame
		}
		return nil
	}
	request := binary.BigEndian.Uint32(b)
	op, _ := w.asked.LoadAndDelete(request)
	kind, _ := op.(uint32)
	if refused := binary.BigEndian.Uint32(b[12:]) != 0; !refused && !sound(kind, b[header:]) ||
		int32(request) == -1 { // a watch's event, although there are no watches
		return errFrame
	}
	return nil
}

// sound reports whether package zk can decode the answer to a request of that kind.
func sound(kind uint32, b []byte) bool {
	counted := func(b []byte, size int) bool { // a count, and as many elements of that size or more
		return len(b) >= 4 && int64(binary.BigEndian.Uint32(b)) <= int64((len(b)-4)/size)
	}
	switch kind {
	case opData:
		return counted(b, 1) || len(b) >= 4 && int32(binary.BigEndian.Uint32(b)) == -1
	case opChildren:
		return counted(b, 4)
	case opACL:
		return counted(b, 12)
	case opTransaction: // headers of 9 bytes, each with a result; the flag of the last one is set
		for len(b) >= 9 && b[4] == 0 {
			result := 0
			switch int32(binary.BigEndian.Uint32(b)) {
			case 1: // create: the path
				if !counted(b[9:], 1) {
					return false
				}
				result = 4 + int(binary.BigEndian.Uint32(b[9:]))
			case 5: // set: a Stat
				result = 68
			case -1: // an error
				result = 4
			}
			b = b[min(len(b), 9+result):]
		}
		return len(b) >= 9
	}
	return true
}
