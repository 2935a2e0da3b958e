// Command clickhouseserver is a stand-in for ClickHouse's server where its image cannot be had.
// ClickHouse's engine also comes as a library. This program gives it the native protocol of the
// server, as far as clickhouse-go, ch-go and GORM's driver use it. README.md says what it cannot
// do.
//
// It names itself in its hello, so that what runs against it can tell. It takes its user, its
// password and a database to create from CLICKHOUSE_USER, CLICKHOUSE_PASSWORD and CLICKHOUSE_DB, as
// the official image does.
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
	// What the engine still does when time is up it does again, or drops, when it starts the next
	// time.
	ctx, cancel := context.WithTimeout(context.Background(), 700*time.Millisecond)
	defer cancel()
	_ = l.Close()
	s.close(ctx)
	return nil
}
