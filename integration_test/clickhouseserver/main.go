// Command clickhouseserver is a stand-in for ClickHouse's server on machines that cannot get its
// image. It adds the server's native protocol to the library of ClickHouse's engine, as far as
// clickhouse-go, ch-go and GORM's driver use it. README.md says what it cannot do.
//
// It names itself in its hello, so that clients can distinguish it from the server. Like the
// official image, it reads its user, its password and a database to create from CLICKHOUSE_USER,
// CLICKHOUSE_PASSWORD and CLICKHOUSE_DB.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

func main() {
	library := flag.String("library", "/usr/lib/libchdb.so", "the engine's `file`")
	path := flag.String("path", "/var/lib/clickhouse",
		"`directory` of the data, created if missing")
	listen := flag.String("listen", ":9000", "`address` of the native protocol")
	flag.Parse()
	if flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if err := run(ctx, *library, *path, *listen); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, library, path, listen string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	e, err := load(library, path)
	if err != nil {
		return err
	}
	s, err := newServer(e, filepath.Join(path, "inserts"),
		cmp.Or(os.Getenv("CLICKHOUSE_USER"), "default"), os.Getenv("CLICKHOUSE_PASSWORD"),
		os.Getenv("CLICKHOUSE_DB"))
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	v := s.hello
	fmt.Printf("%s %d.%d.%d on %s\n", serverName, v.Major, v.Minor, v.Patch, l.Addr())
	failed := make(chan error, 1)
	go func() { failed <- s.serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	// Work that is unfinished when the time is up is repeated or dropped at the engine's next
	// start.
	ctx, cancel := context.WithTimeout(context.Background(), 700*time.Millisecond)
	defer cancel()
	_ = l.Close()
	s.close(ctx)
	return nil
}
