package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
	"unsafe"

	"github.com/ebitengine/purego"
)

// An engine executes ClickHouse's SQL. Sessions of it run at the same time; each has a current database, settings and temporary
// tables of its own.
type engine interface {
	open() (session, error)
}

// A session executes one statement at a time: its stream must be closed before the next begins.
type session interface {
	// query begins to execute a statement, whose {name:Type} stand for the parameters' values, and returns its result in the
	// given format. A failure of the statement is an *exception, from here or from the stream.
	query(sql, format string, parameters []parameter) (stream, error)
	close()
}

// A stream is the result of a statement.
type stream interface {
	// next returns a further part of the result, whole blocks where the format has blocks, or nothing at the end. The bytes are
	// valid until the next call.
	next() (part, error)
	close()
}

// A part is what a stream returns, and what the engine did for it since the part before.
type part struct {
	data                    []byte
	readRows, readBytes     uint64 // from tables
	resultRows, resultBytes uint64
	wroteRows, wroteBytes   uint64
	elapsed                 time.Duration
}

// A parameter's value is text in the form of a field of a TabSeparated file, escapes and all.
type parameter struct{ name, value string }

// chdb is the engine in libchdb.so. Its functions are those of chdb.h.
type chdb struct {
	path, config string

	connect                 func(argc int32, argv []*byte) *chdbConnection
	disconn                 func(*chdbConnection)
	begin                   queryFunc // of a result in chunks
	run                     queryFunc // of a result as a whole
	fetch                   func(conn, result uintptr) uintptr
	cancel                  func(conn, result uintptr)
	destroy                 func(result uintptr)
	buffer                  func(result uintptr) *byte
	length                  func(result uintptr) uintptr
	failure                 func(result uintptr) string
	readRows, readBytes     func(result uintptr) uint64
	resultRows, resultBytes func(result uintptr) uint64
	wroteRows, wroteBytes   func(result uintptr) uint64
	elapsed                 func(result uintptr) float64 // seconds
}

type queryFunc func(conn uintptr, sql []byte, sqlLen uintptr, format []byte, formatLen uintptr,
	names []*byte, nameLens []uintptr, values []*byte, valueLens []uintptr, count uintptr) uintptr

// chdbConnection is the one that chdb_connect allocates: what the other functions want is what it holds.
type chdbConnection struct{ handle uintptr }

// config is the engine's. ClickHouse does not tell how many bytes each column of a part has where the part is small and its columns are
// in one file: so they never are.
const config = `<clickhouse><merge_tree><min_bytes_for_wide_part>0</min_bytes_for_wide_part></merge_tree></clickhouse>
`

// load makes an engine of a library, with its data in a directory. A process can load one, and cannot end it.
func load(library, path string) (*chdb, error) {
	lib, err := purego.Dlopen(library, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", library, err)
	}
	e := &chdb{path: path}
	var signals func(bool)
	for name, f := range map[string]any{
		"chdb_set_signal_handlers_enabled": &signals,
		"chdb_connect":                     &e.connect,
		"chdb_close_conn":                  &e.disconn,
		"chdb_stream_query_with_params_n":  &e.begin,
		"chdb_query_with_params_n":         &e.run,
		"chdb_stream_fetch_result":         &e.fetch,
		"chdb_stream_cancel_query":         &e.cancel,
		"chdb_destroy_query_result":        &e.destroy,
		"chdb_result_buffer":               &e.buffer,
		"chdb_result_length":               &e.length,
		"chdb_result_error":                &e.failure,
		"chdb_result_storage_rows_read":    &e.readRows,
		"chdb_result_storage_bytes_read":   &e.readBytes,
		"chdb_result_rows_read":            &e.resultRows,
		"chdb_result_bytes_read":           &e.resultBytes,
		"chdb_result_rows_written":         &e.wroteRows,
		"chdb_result_bytes_written":        &e.wroteBytes,
		"chdb_result_elapsed":              &e.elapsed,
	} {
		if _, err := purego.Dlsym(lib, name); err != nil {
			return nil, fmt.Errorf("load %s: %w", library, err)
		}
		purego.RegisterLibFunc(f, lib, name)
	}
	signals(false) // they are Go's
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	e.config = filepath.Join(path, "config.xml")
	return e, os.WriteFile(e.config, []byte(config), 0o600)
}

func (e *chdb) open() (session, error) {
	var argv []*byte
	for _, arg := range []string{"clickhouse", "--path=" + e.path, "--config-file=" + e.config} {
		argv = append(argv, &append([]byte(arg), 0)[0])
	}
	conn := e.connect(int32(len(argv)), append(argv, nil))
	if conn == nil {
		return nil, fmt.Errorf("the engine does not open %s", e.path)
	}
	return &chdbSession{e, conn}, nil
}

type chdbSession struct {
	*chdb
	conn *chdbConnection
}

func (s *chdbSession) close() { s.disconn(s.conn) }

func (s *chdbSession) query(sql, format string, parameters []parameter) (stream, error) {
	var names, values []*byte
	var nameLens, valueLens []uintptr
	for _, p := range parameters {
		names, nameLens = append(names, &append([]byte(p.name), 0)[0]), append(nameLens, uintptr(len(p.name)))
		values, valueLens = append(values, &append([]byte(p.value), 0)[0]), append(valueLens, uintptr(len(p.value)))
	}
	if names == nil { // the address of the first is asked for
		names, values, nameLens, valueLens = make([]*byte, 1), make([]*byte, 1), make([]uintptr, 1), make([]uintptr, 1)
	}
	execute := func(f queryFunc) (uintptr, *exception) {
		result := f(s.conn.handle, append([]byte(sql), 0), uintptr(len(sql)), append([]byte(format), 0), uintptr(len(format)),
			names, nameLens, values, valueLens, uintptr(len(parameters)))
		return result, s.check(result)
	}
	// The engine keeps what it knows of a query with the thread that runs it.
	runtime.LockOSThread()
	st := &chdbStream{chdbSession: s}
	var err *exception
	if st.handle, err = execute(s.begin); err != nil && strings.HasPrefix(err.message, notStreamed) {
		s.destroy(st.handle)
		st.handle, err = execute(s.run)
		st.whole = true
	}
	if err != nil {
		st.ended = true
		st.close()
		return nil, err
	}
	return st, nil
}

// notStreamed is what the engine says, before it does anything, of statements other than SELECT.
const notStreamed = "Streaming query is not supported for query"

// overStreamed is what it says where a chunk without rows was the last.
const overStreamed = "No active streaming query"

func (e *chdb) check(result uintptr) *exception {
	if result == 0 {
		return &exception{codeUnknownException, "the engine returns no result"}
	}
	if message := e.failure(result); message != "" {
		return parseException(strings.Clone(message))
	}
	return nil
}

type chdbStream struct {
	*chdbSession
	handle uintptr
	whole  bool    // the handle has the result itself
	chunk  uintptr // the current one
	began  bool    // a chunk was fetched
	ended  bool    // nothing is left to be fetched
	closed bool
}

func (s *chdbStream) next() (part, error) {
	s.release()
	if s.ended {
		return part{}, nil
	}
	if s.whole {
		s.chunk, s.handle = s.handle, 0
	} else {
		s.chunk = s.fetch(s.conn.handle, s.handle)
	}
	if err := s.check(s.chunk); err != nil {
		s.ended = true
		if err.message == overStreamed && s.began {
			return part{}, nil
		}
		return part{}, err
	}
	s.began = true
	p := part{
		readRows: s.readRows(s.chunk), readBytes: s.readBytes(s.chunk),
		resultRows: s.resultRows(s.chunk), resultBytes: s.resultBytes(s.chunk),
		wroteRows: s.wroteRows(s.chunk), wroteBytes: s.wroteBytes(s.chunk),
		elapsed: time.Duration(s.elapsed(s.chunk) * float64(time.Second)),
	}
	n := s.length(s.chunk)
	s.ended = s.whole || n == 0
	if n > 0 {
		// Not copied: results are large, and all that is done with them is to send them.
		p.data = unsafe.Slice(s.buffer(s.chunk), n)
	}
	return p, nil
}

func (s *chdbStream) release() {
	if s.chunk != 0 {
		s.destroy(s.chunk)
		s.chunk = 0
	}
}

// close ends a statement whose result is not fetched to its end.
func (s *chdbStream) close() {
	if s.closed {
		return
	}
	s.closed = true
	s.release()
	if s.handle != 0 {
		if !s.ended {
			s.cancel(s.conn.handle, s.handle)
		}
		s.destroy(s.handle)
		s.handle = 0
	}
	runtime.UnlockOSThread()
}
