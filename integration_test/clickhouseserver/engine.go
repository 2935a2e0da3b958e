package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unsafe"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/ebitengine/purego"
)

// A result holds what a statement returns, and what the engine did for it.
type result struct {
	data     []byte // valid until free
	progress proto.Progress
	profile  proto.Profile
	free     func()
}

// An engine executes ClickHouse's SQL with libchdb.so. Its sessions can run at the same time, and
// each has its own current database, settings and temporary tables. It calls the functions of
// chdb.h.
//
// A result is returned as a whole. The library can also return chunks, but then it loses count of
// the rows that it reads for the last one.
type engine struct {
	path, config string

	connect    func(argc int32, argv []*byte) *chdbConnection
	disconnect func(*chdbConnection)
	execute    func(conn uintptr, sql []byte, sqlLen uintptr, format []byte, formatLen uintptr,
		names []*byte, nameLens []uintptr, values []*byte, valueLens []uintptr,
		count uintptr) uintptr
	destroy               func(result uintptr)
	failure               func(result uintptr) string
	buffer                func(result uintptr) *byte
	length                func(result uintptr) uintptr
	rows, bytes           func(result uintptr) uint64
	readRows, readBytes   func(result uintptr) uint64
	wroteRows, wroteBytes func(result uintptr) uint64
	elapsed               func(result uintptr) float64 // seconds
}

// chdbConnection is the type that chdb_connect returns. The other functions use its content.
type chdbConnection struct{ handle uintptr }

// config is the engine's configuration. It makes every part a wide one, because ClickHouse does not
// report the bytes of each column if a small part has its columns in one file.
const config = `<clickhouse><merge_tree>
	<min_bytes_for_wide_part>0</min_bytes_for_wide_part>
</merge_tree></clickhouse>
`

// load loads the engine from a library, with its data in a directory. A process can load only one,
// and cannot unload it.
func load(library, path string) (*engine, error) {
	lib, err := purego.Dlopen(library, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", library, err)
	}
	e := &engine{path: path, config: filepath.Join(path, "config.xml")}
	var handleSignals func(bool)
	for name, f := range map[string]any{
		"chdb_set_signal_handlers_enabled": &handleSignals,
		"chdb_connect":                     &e.connect,
		"chdb_close_conn":                  &e.disconnect,
		"chdb_query_with_params_n":         &e.execute,
		"chdb_destroy_query_result":        &e.destroy,
		"chdb_result_error":                &e.failure,
		"chdb_result_buffer":               &e.buffer,
		"chdb_result_length":               &e.length,
		"chdb_result_rows_read":            &e.rows,
		"chdb_result_bytes_read":           &e.bytes,
		"chdb_result_storage_rows_read":    &e.readRows,
		"chdb_result_storage_bytes_read":   &e.readBytes,
		"chdb_result_rows_written":         &e.wroteRows,
		"chdb_result_bytes_written":        &e.wroteBytes,
		"chdb_result_elapsed":              &e.elapsed,
	} {
		if _, err := purego.Dlsym(lib, name); err != nil {
			return nil, fmt.Errorf("load %s: %w", library, err)
		}
		purego.RegisterLibFunc(f, lib, name)
	}
	handleSignals(false) // Go handles them
	// In a directory without metadata the engine would not start the task that drops tables, and
	// DROP ... SYNC would wait for it forever.
	if err := os.MkdirAll(filepath.Join(path, "metadata"), 0o700); err != nil {
		return nil, err
	}
	return e, os.WriteFile(e.config, []byte(config), 0o600)
}

func (e *engine) open() (*session, error) {
	argv := []*byte{
		cString("clickhouse"), cString("--path=" + e.path),
		cString("--config-file=" + e.config),
	}
	conn := e.connect(int32(len(argv)), append(argv, nil))
	if conn == nil {
		return nil, fmt.Errorf("the engine cannot open %s", e.path)
	}
	return &session{e, conn}, nil
}

func cString(s string) *byte { return &append([]byte(s), 0)[0] }

// A session executes one statement at a time.
type session struct {
	*engine
	conn *chdbConnection
}

func (s *session) close() { s.disconnect(s.conn) }

// query executes a statement, and returns its result in the given format. In the statement,
// {name:Type} stands for the value of a parameter, which is a text in the form of a field of a
// TabSeparated file, with escapes. If the statement fails, the error is an *exception.
func (s *session) query(sql, format string, parameters []proto.Parameter) (*result, error) {
	n := len(parameters)
	names, values := make([]*byte, n, n+1), make([]*byte, n, n+1) // so that they have an address
	nameLens, valueLens := make([]uintptr, n, n+1), make([]uintptr, n, n+1)
	for i, p := range parameters {
		names[i], nameLens[i] = cString(p.Key), uintptr(len(p.Key))
		values[i], valueLens[i] = cString(p.Value), uintptr(len(p.Value))
	}
	h := s.execute(s.conn.handle, append([]byte(sql), 0), uintptr(len(sql)),
		append([]byte(format), 0), uintptr(len(format)),
		names[:n+1], nameLens[:n+1], values[:n+1], valueLens[:n+1], uintptr(n))
	if h == 0 {
		return nil, &exception{codeUnknownException, "the engine returns no result"}
	}
	if message := s.failure(h); message != "" {
		message = strings.Clone(message)
		s.destroy(h)
		return nil, parseException(message)
	}
	r := &result{
		progress: proto.Progress{
			Rows: s.readRows(h), Bytes: s.readBytes(h),
			WroteRows: s.wroteRows(h), WroteBytes: s.wroteBytes(h),
			ElapsedNs: uint64(s.elapsed(h) * 1e9),
		},
		profile: proto.Profile{Rows: s.rows(h), Bytes: s.bytes(h)},
		free:    func() { s.destroy(h) },
	}
	if size := s.length(h); size > 0 {
		// Not copied, because results are large and are only sent.
		r.data = unsafe.Slice(s.buffer(h), size)
	}
	return r, nil
}
