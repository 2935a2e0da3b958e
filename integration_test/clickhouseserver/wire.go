package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
)

// revision is that of the protocol that the server speaks: the first with which clients bind
// parameters and see elapsed time. Later ones add chunks and versions that no client needs.
const revision = 54460

// Packets of clients and of the server.
const (
	clientHello  = 0
	clientQuery  = 1
	clientData   = 2
	clientCancel = 3
	clientPing   = 4

	serverHello       = 0
	serverData        = 1
	serverException   = 2
	serverProgress    = 3
	serverPong        = 4
	serverEndOfStream = 5
	serverProfileInfo = 6
)

// maxText limits a text that a client sends, a query with its values above all.
const maxText = 1 << 30

// A source is read without copying, and never beyond what its reader asks for.
type source interface {
	io.ByteReader
	// next returns the next bytes, at least one and at most max, which are valid until the next
	// call.
	next(max int) ([]byte, error)
}

// memory is a source of bytes at hand.
type memory []byte

func (m *memory) next(max int) ([]byte, error) {
	if len(*m) == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	b := (*m)[:min(max, len(*m))]
	*m = (*m)[len(b):]
	return b, nil
}

func (m *memory) ReadByte() (byte, error) { return readByte(m) }

// buffered is a source of what a client sends.
type buffered struct{ *bufio.Reader }

func (b buffered) next(max int) ([]byte, error) {
	if b.Buffered() == 0 {
		if _, err := b.Peek(1); err != nil {
			return nil, err
		}
	}
	p, err := b.Peek(min(max, b.Buffered()))
	if err != nil {
		return nil, err
	}
	_, err = b.Discard(len(p))
	return p, err
}

func readByte(s source) (byte, error) {
	b, err := s.next(1)
	if err != nil {
		return 0, err
	}
	return b[0], nil
}

// copyBytes writes the next n bytes of s.
func copyBytes(w io.Writer, s source, n uint64) error {
	for n > 0 {
		b, err := s.next(int(min(n, 1<<30)))
		if err != nil {
			return err
		}
		if _, err := w.Write(b); err != nil {
			return err
		}
		n -= uint64(len(b))
	}
	return nil
}

// A decoder reads the parts of packets, until the first that fails.
type decoder struct {
	source
	err error
}

func (d *decoder) uvarint() uint64 {
	if d.err != nil {
		return 0
	}
	var v uint64
	v, d.err = binary.ReadUvarint(d.source)
	return v
}

// text takes memory as bytes come, not as their number is announced.
func (d *decoder) text() string {
	n := d.uvarint()
	if d.err == nil && n > maxText {
		d.err = fmt.Errorf("a text of %d bytes is too long", n)
	}
	return string(d.bytes(n))
}

func (d *decoder) bytes(n uint64) []byte {
	if d.err != nil {
		return nil
	}
	var b bytes.Buffer
	d.err = copyBytes(&b, d.source, n)
	return b.Bytes()
}

func (d *decoder) byte() byte {
	if b := d.bytes(1); d.err == nil {
		return b[0]
	}
	return 0
}

// A hello is how a client begins.
type hello struct {
	client                   string
	revision                 uint64
	database, user, password string
}

func (d *decoder) hello() hello {
	var h hello
	h.client = d.text()
	d.uvarint() // major and
	d.uvarint() // minor version
	h.revision = d.uvarint()
	h.database, h.user, h.password = d.text(), d.text(), d.text()
	return h
}

// A setting's value is that of SQL without its quotes, unless it is custom: then it is SQL.
type setting struct {
	name, value string
	custom      bool
}

type query struct {
	body       string
	settings   []setting
	compressed bool // the blocks in both directions
	parameters []parameter
}

func (d *decoder) query() query {
	var q query
	d.text() // ID
	d.clientInfo()
	q.settings = d.settings()
	d.text()    // secret between servers
	d.uvarint() // stage
	q.compressed = d.uvarint() == 1
	q.body = d.text()
	for _, s := range d.settings() {
		value, err := unquote(s.value)
		if err != nil && d.err == nil {
			d.err = fmt.Errorf("parameter %s: %w", s.name, err)
		}
		q.parameters = append(q.parameters, parameter{s.name, value})
	}
	return q
}

func (d *decoder) clientInfo() {
	if d.byte() == 0 { // nobody's query
		return
	}
	d.text() // initial user,
	d.text() // query,
	d.text() // address
	d.bytes(8)
	if i := d.byte(); i != 1 && d.err == nil {
		d.err = fmt.Errorf("a client by interface %d, not TCP", i)
	}
	d.text() // user,
	d.text() // host,
	d.text() // name of the client
	for range 3 {
		d.uvarint() // its version
	}
	d.text()    // quota
	d.uvarint() // distributed depth
	d.uvarint() // patch of the client's version
	if d.byte() != 0 {
		d.bytes(16 + 8) // trace and span
		d.text()
		d.byte()
	}
	for range 3 {
		d.uvarint() // parallel replicas
	}
}

func (d *decoder) settings() []setting {
	const custom = 2
	var all []setting
	for d.err == nil {
		s := setting{name: d.text()}
		if s.name == "" {
			break
		}
		s.custom = d.uvarint()&custom != 0
		s.value = d.text()
		all = append(all, s)
	}
	return all
}

// An encoder writes the parts of packets. Its writer keeps the first error.
type encoder struct{ *bufio.Writer }

func (e encoder) uvarint(vs ...uint64) {
	var b [binary.MaxVarintLen64]byte
	for _, v := range vs {
		_, _ = e.Write(b[:binary.PutUvarint(b[:], v)])
	}
}

func (e encoder) text(ss ...string) {
	for _, s := range ss {
		e.uvarint(uint64(len(s)))
		_, _ = e.WriteString(s)
	}
}
