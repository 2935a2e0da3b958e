package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/ClickHouse/ch-go/compress"
	"github.com/ClickHouse/ch-go/proto"
	native "github.com/ClickHouse/clickhouse-go/v2/lib/proto"
)

// A conn is a client's connection with a session of the engine. Only one goroutine uses it.
type conn struct {
	srv    *server
	net    net.Conn
	eng    *session
	in     *proto.Reader
	out    proto.Buffer // to be sent by flush
	pack   *compress.Writer
	scope  scope
	packed bool // whether the blocks of the current query are compressed
}

func newConn(srv *server, c net.Conn) *conn {
	return &conn{
		srv: srv, net: c, in: proto.NewReader(c),
		pack: compress.NewWriter(compress.LevelZero, compress.LZ4),
	}
}

func (c *conn) flush() error {
	_, err := c.net.Write(c.out.Buf)
	c.out.Reset()
	return err
}

// packet reads the kind of the client's next packet.
func (c *conn) packet() (proto.ClientCode, error) {
	n, err := c.in.UVarInt()
	if err == nil && n > uint64(proto.ClientTablesStatusRequest) {
		err = unknownPacket(n)
	}
	return proto.ClientCode(n), err
}

// serve serves a client until it disconnects or violates the protocol.
func (c *conn) serve() error {
	packet, err := c.packet()
	if err == nil && packet != proto.ClientCodeHello {
		err = fmt.Errorf("packet %d instead of a hello", packet)
	}
	var h proto.ClientHello
	if err == nil {
		err = c.in.Decode(&h)
	}
	if err != nil {
		return err
	}
	defer func() {
		if c.eng != nil { // even if the client is gone
			c.eng.close()
		}
	}()
	if err := c.begin(h); err != nil {
		return c.refuse(err)
	}
	if _, err := c.in.Str(); err != nil { // a quota
		return err
	}
	for {
		packet, err := c.packet()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			switch packet {
			case proto.ClientCodePing:
				proto.ServerCodePong.Encode(&c.out)
			case proto.ClientCodeCancel: // of a query that has ended
			case proto.ClientCodeData: // of an INSERT that failed
				_, err = c.readBlock()
			case proto.ClientCodeQuery:
				err = c.query()
			default:
				err = unknownPacket(uint64(packet))
			}
		}
		if err != nil {
			return c.refuse(err)
		}
		if err := c.flush(); err != nil {
			return err
		}
	}
}

func unknownPacket(packet uint64) error {
	return &exception{codeUnknownPacket, fmt.Sprintf("Unknown packet %d from client", packet)}
}

// begin opens the session that a hello requests, and answers.
func (c *conn) begin(h proto.ClientHello) (err error) {
	if h.User != c.srv.user || h.Password != c.srv.password {
		return &exception{codeAuthentication, h.User +
			": Authentication failed: password is incorrect, or there is no user with such name."}
	}
	if h.ProtocolVersion < revision {
		return &exception{
			codeNotImplemented,
			fmt.Sprintf("the stand-in serves clients from revision %d on, not %d", revision,
				h.ProtocolVersion),
		}
	}
	if c.eng, err = c.srv.open(cmp.Or(h.Database, "default")); err != nil {
		return err
	}
	c.srv.hello.EncodeAware(&c.out, revision)
	return c.flush()
}

// query answers a query. It returns an error only if the connection cannot continue.
func (c *conn) query() error {
	var q proto.Query
	if err := q.DecodeAware(c.in, revision); err != nil {
		return err
	}
	for i, p := range q.Parameters {
		value, err := unquote(p.Value)
		if err != nil {
			return fmt.Errorf("parameter %s: %w", p.Key, err)
		}
		q.Parameters[i].Value = value
	}
	c.packed = q.Compression == proto.CompressionEnabled
	if err := c.readNoTables(); err != nil {
		return err
	}
	if strings.EqualFold(firstWord(q.Body), "SET") { // these settings must persist
		q.Settings = nil
	}
	err := severalStatements(q.Body)
	if err == nil {
		err = c.scope.apply(c.eng, q.Settings)
	}
	if err == nil {
		if ins, ok := insertionOf(q.Body); ok {
			err = c.insert(q, ins)
		} else {
			err = c.run(withoutFormat(q.Body), q.Parameters)
		}
	}
	var x *exception
	if !errors.As(err, &fatal{}) && errors.As(err, &x) {
		return c.sendException(x)
	}
	return err
}

// A fatal error is one after which a connection cannot continue, even if it is an exception.
type fatal struct{ error }

func (f fatal) Unwrap() error { return f.error }

func firstWord(sql string) string {
	if ts := tokens(sql); len(ts) > 0 {
		return ts[0].text
	}
	return ""
}

// readNoTables reads the block that ends the external tables of a query. Any table is an error.
func (c *conn) readNoTables() error {
	packet, err := c.packet()
	if err == nil && packet != proto.ClientCodeData {
		err = fmt.Errorf("packet %d instead of a query's tables", packet)
	}
	if err != nil {
		return err
	}
	b, err := c.readBlock()
	if err == nil && len(b.Columns) > 0 {
		err = &exception{codeNotImplemented, "the stand-in does not support external tables"}
	}
	return err
}

// readBlock reads a block after its packet's number.
func (c *conn) readBlock() (*native.Block, error) {
	if _, err := c.in.Str(); err != nil { // a name
		return nil, err
	}
	if c.packed {
		c.in.EnableCompression()
		defer c.in.DisableCompression()
	}
	return decode(c.in, revision)
}

// run runs a statement and sends its result. It notices only at the end that a client has canceled
// the statement or disconnected.
func (c *conn) run(sql string, parameters []proto.Parameter) error {
	err := c.sendResult(sql, parameters)
	if err == nil {
		proto.ServerCodeEndOfStream.Encode(&c.out)
	}
	return err
}

func (c *conn) sendResult(sql string, parameters []proto.Parameter) error {
	r, err := c.eng.query(sql, "Native", parameters)
	if err != nil {
		return err
	}
	defer r.free()
	proto.ServerCodeProgress.Encode(&c.out)
	r.progress.EncodeAware(&c.out, revision)
	switch sent := uint64(0); {
	case len(r.data) > 0:
		for b, err := range blocks(r.data) {
			if sent == 0 && err == nil {
				var h *native.Block
				if h, err = header(b); err == nil {
					err = c.sendBlock(h)
				}
			}
			if err == nil {
				err = c.sendBlock(b)
			}
			if err != nil {
				return err
			}
			sent++
		}
		r.profile.Blocks = sent
	case hasColumns(sql):
		b, err := columnsOf(c.eng, sql, parameters)
		if err == nil && len(b.Columns) > 0 {
			err = c.sendBlock(b)
		}
		if err != nil {
			return err
		}
	}
	r.profile.EncodeAware(&c.out, revision)
	return nil
}

func (c *conn) sendBlock(b *native.Block) error {
	before := len(c.out.Buf)
	proto.ServerCodeData.Encode(&c.out)
	c.out.PutString("")
	start := len(c.out.Buf)
	if err := encode(&c.out, b); err != nil {
		c.out.Buf = c.out.Buf[:before] // the client must read the error
		return err
	}
	if c.packed {
		if err := c.pack.Compress(c.out.Buf[start:]); err != nil {
			return err
		}
		c.out.Buf = append(c.out.Buf[:start], c.pack.Data...)
	}
	return c.flush()
}

// refuse tells the client why the connection ends, if the client still reads.
func (c *conn) refuse(err error) error {
	_ = c.sendException(err)
	return err
}

// sendException sends an exception, and everything that is buffered before it.
func (c *conn) sendException(err error) error {
	x := &exception{code: codeUnknownException, message: err.Error()}
	errors.As(err, &x)
	const name = "DB::Exception"
	proto.ServerCodeException.Encode(&c.out)
	(&proto.Exception{
		Code: proto.Error(x.code), Name: name, Message: name + ": " + x.message,
	}).EncodeAware(&c.out, revision)
	return c.flush()
}

// helloOf returns the server's hello.
func helloOf(eng *session) (h proto.ServerHello, err error) {
	rows, err := table(eng, "SELECT version(), timezone()", nil)
	if err != nil {
		return h, err
	}
	h = proto.ServerHello{
		Name: serverName, DisplayName: serverName, Revision: revision, Timezone: rows[0][1],
	}
	if _, err := fmt.Sscanf(rows[0][0], "%d.%d.%d", &h.Major, &h.Minor, &h.Patch); err != nil {
		return h, fmt.Errorf("version %q: %w", rows[0][0], err)
	}
	return h, nil
}
