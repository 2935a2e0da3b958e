package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/ClickHouse/ch-go/compress"
)

// A conn is a client's connection with a session of the engine. One goroutine has it; another only
// waits for what the client sends while a query runs.
type conn struct {
	srv    *server
	net    net.Conn
	eng    *session
	number uint64 // of the connection
	in     buffered
	unpack buffered // what in holds compressed
	out    encoder
	pack   *packer // to out, compressed
	scope  scope
	packed bool // the blocks of the current query
}

func newConn(srv *server, c net.Conn, number uint64) *conn {
	in, out := bufio.NewReaderSize(c, 1<<17), bufio.NewWriterSize(c, 1<<17)
	return &conn{
		srv: srv, net: c, number: number,
		in:     buffered{in},
		unpack: buffered{bufio.NewReaderSize(compress.NewReader(in), 1<<16)},
		out:    encoder{out},
		pack:   newPacker(out),
	}
}

// serve speaks with a client until it goes or breaks the protocol.
func (c *conn) serve() (err error) {
	d := decoder{source: c.in}
	if packet := d.uvarint(); d.err == nil && packet != clientHello {
		return fmt.Errorf("packet %d instead of a hello", packet)
	}
	h := d.hello()
	if d.err != nil {
		return d.err
	}
	defer func() {
		if c.eng != nil { // even if the client does not hear of it
			c.eng.close()
		}
	}()
	if err := c.begin(h); err != nil {
		return c.refuse(err)
	}
	if d.text(); d.err != nil { // a quota
		return d.err
	}
	for {
		switch packet := d.uvarint(); {
		case d.err == io.EOF:
			return nil
		case d.err != nil:
			return d.err
		case packet == clientPing:
			c.out.uvarint(serverPong)
		case packet == clientCancel: // of a query that has ended
		case packet == clientData: // of an INSERT that failed
			if _, _, err := c.readBlock(io.Discard); err != nil {
				return c.refuse(err)
			}
		case packet == clientQuery:
			if err := c.query(); err != nil {
				return c.refuse(err)
			}
		default:
			return c.refuse(unknownPacket(packet))
		}
		if err := c.out.Flush(); err != nil {
			return err
		}
	}
}

func unknownPacket(packet uint64) error {
	return &exception{codeUnknownPacket, fmt.Sprintf("Unknown packet %d from client", packet)}
}

// begin opens the session that a hello asks for, and answers.
func (c *conn) begin(h hello) (err error) {
	if h.user != c.srv.user || h.password != c.srv.password {
		return &exception{codeAuthentication, h.user +
			": Authentication failed: password is incorrect, or there is no user with such name."}
	}
	if h.revision < revision {
		return &exception{
			codeNotImplemented,
			fmt.Sprintf("the stand-in serves clients from revision %d on, not %d", revision,
				h.revision),
		}
	}
	if c.eng, err = c.srv.open(c.number, cmp.Or(h.database, "default")); err != nil {
		return err
	}
	v := c.srv.version
	c.out.uvarint(serverHello)
	c.out.text(serverName)
	c.out.uvarint(v.major, v.minor, revision)
	c.out.text(v.timezone, serverName)
	c.out.uvarint(v.patch)
	return c.out.Flush()
}

// query answers a query. An error is one after which the connection cannot go on.
func (c *conn) query() error {
	d := decoder{source: c.in}
	q := d.query()
	if d.err != nil {
		return d.err
	}
	c.packed = q.compressed
	if err := c.readNoTables(); err != nil {
		return err
	}
	if strings.EqualFold(firstWord(q.body), "SET") { // what it sets is to stay
		q.settings = nil
	}
	err := severalStatements(q.body)
	if err == nil {
		err = c.scope.apply(c.eng, q.settings)
	}
	if err == nil {
		if ins, ok := insertionOf(q.body); ok {
			err = c.insert(q, ins)
		} else {
			err = c.run(withoutFormat(q.body), q.parameters)
		}
	}
	var x *exception
	if !errors.As(err, &fatal{}) && errors.As(err, &x) {
		return c.sendException(x)
	}
	return err
}

// fatal is an error after which a connection cannot go on, even if it is an exception.
type fatal struct{ error }

func (f fatal) Unwrap() error { return f.error }

func firstWord(sql string) string {
	if ts := tokens(sql); len(ts) > 0 {
		return ts[0].text
	}
	return ""
}

// readNoTables reads the block that ends the external tables of a query, of which there are none.
func (c *conn) readNoTables() error {
	d := decoder{source: c.in}
	if packet := d.uvarint(); d.err == nil && packet != clientData {
		d.err = fmt.Errorf("packet %d instead of a query's tables", packet)
	}
	if d.err != nil {
		return d.err
	}
	columns, _, err := c.readBlock(io.Discard)
	if err == nil && len(columns) > 0 {
		err = &exception{codeNotImplemented, "the stand-in takes no external tables"}
	}
	return err
}

// readBlock reads a block behind its packet's number and writes it in the form of files.
func (c *conn) readBlock(w io.Writer) (columns []column, rows uint64, err error) {
	d := decoder{source: c.in}
	if d.text(); d.err != nil { // a name
		return nil, 0, d.err
	}
	src := c.in
	if c.packed {
		src = c.unpack
	}
	columns, rows, err = copyBlock(w, fileForm, src, wireForm)
	if err == nil && c.unpack.Buffered() > 0 {
		err = errors.New("a compressed block holds more than a block")
	}
	return columns, rows, err
}

// run runs a statement and sends its result.
func (c *conn) run(sql string, parameters []parameter) error {
	cancelled := c.watch()
	err := c.sendResult(sql, parameters)
	stopped, lost := cancelled()
	var x *exception
	switch {
	case lost != nil:
		return fatal{lost}
	case stopped && (err == nil || errors.As(err, &x)):
		// the client wants to hear of no more than the end
	case err != nil:
		return err
	}
	c.out.uvarint(serverEndOfStream)
	return nil
}

func (c *conn) sendResult(sql string, parameters []parameter) error {
	r, err := c.eng.query(sql, "Native", parameters)
	if err != nil {
		return err
	}
	defer r.free()
	c.out.uvarint(serverProgress, r.readRows, r.readBytes, 0, r.wroteRows, r.wroteBytes,
		uint64(r.elapsed))
	var columns []column
	if rest := memory(r.data); len(rest) > 0 { // those of all blocks are those of the first
		columns, _, err = copyBlock(io.Discard, fileForm, &rest, fileForm)
	} else if hasColumns(sql) {
		columns, err = header(c.eng, sql, parameters)
	}
	if err == nil && columns != nil {
		err = c.sendHeader(columns)
	}
	blocks := uint64(0)
	for rest := memory(r.data); err == nil && len(rest) > 0; blocks++ {
		err = c.sendBlock(func(w io.Writer) error {
			_, _, err := copyBlock(w, wireForm, &rest, fileForm)
			return err
		})
	}
	if err == nil {
		c.out.uvarint(serverProfileInfo, r.rows, blocks, r.bytes, 0, 0, 0)
	}
	return err
}

// watch looks, while a query runs, whether its client cancels it or goes. What it returns ends that
// and tells what came.
func (c *conn) watch() func() (cancelled bool, lost error) {
	done, ended := make(chan struct{}), make(chan struct{})
	var cancelled bool
	var lost error
	go func() {
		defer close(ended)
		b, err := c.in.Peek(1)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return
		case err == nil && b[0] == clientCancel:
			cancelled = true
		case err == nil:
			lost = unknownPacket(uint64(b[0]))
		default:
			lost = err
		}
		for { // the query may not have begun yet
			c.srv.kill(c.number)
			select {
			case <-done:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	return func() (bool, error) {
		close(done)
		_ = c.net.SetReadDeadline(time.Unix(1, 0))
		<-ended
		_ = c.net.SetReadDeadline(time.Time{})
		if cancelled {
			_, _ = c.in.Discard(1)
		}
		return cancelled, lost
	}
}

func (c *conn) sendHeader(columns []column) error {
	return c.sendBlock(func(w io.Writer) error { return writeHeader(w, columns) })
}

func (c *conn) sendBlock(write func(io.Writer) error) error {
	c.out.uvarint(serverData)
	c.out.text("")
	if !c.packed {
		return write(c.out)
	}
	if err := write(c.pack); err != nil {
		return err
	}
	return c.pack.Flush()
}

// refuse tells the client why the connection ends, if it still listens.
func (c *conn) refuse(err error) error {
	_ = c.sendException(err)
	return err
}

// sendException also sends what goes before it.
func (c *conn) sendException(err error) error {
	x := &exception{code: codeUnknownException, message: err.Error()}
	errors.As(err, &x)
	const name = "DB::Exception"
	c.out.uvarint(serverException)
	_, _ = c.out.Write(
		[]byte{byte(x.code), byte(x.code >> 8), byte(x.code >> 16), byte(x.code >> 24)},
	)
	c.out.text(name, name+": "+x.message, "")
	_ = c.out.WriteByte(0) // no other within
	return c.out.Flush()
}

// A packer compresses what is written to it.
type packer struct{ *bufio.Writer }

func newPacker(w io.Writer) *packer {
	const blockSize = 1 << 20 // as the server
	return &packer{bufio.NewWriterSize(
		packedFrames{compress.NewWriter(compress.LevelZero, compress.LZ4), w}, blockSize,
	)}
}

// packedFrames makes a frame of each write.
type packedFrames struct {
	*compress.Writer
	w io.Writer
}

func (f packedFrames) Write(b []byte) (int, error) {
	if err := f.Compress(b); err != nil {
		return 0, err
	}
	if _, err := f.w.Write(f.Data); err != nil {
		return 0, err
	}
	return len(b), nil
}

// A version is what the server says of itself.
type version struct {
	major, minor, patch uint64
	timezone            string
}

func versionOf(eng *session) (version, error) {
	rows, err := table(eng, "SELECT version(), timezone()", nil)
	if err != nil {
		return version{}, err
	}
	v := version{timezone: rows[0][1]}
	for i, part := range strings.SplitN(rows[0][0], ".", 4)[:3] {
		n, err := strconv.ParseUint(part, 10, 32)
		if err != nil {
			return version{}, fmt.Errorf("version %q: %w", rows[0][0], err)
		}
		*[]*uint64{&v.major, &v.minor, &v.patch}[i] = n
	}
	return v, nil
}
