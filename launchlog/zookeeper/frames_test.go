package zookeeper

import (
	"encoding/hex"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
)

// A server that sends anything gets an error out of each request, and neither ends the process nor
// takes memory that it did not send.
func TestHostileServer(t *testing.T) {
	const (
		greeting = "00000025 00000000 00007530 0000000000000001 00000010" +
			"00000000000000000000000000000000 00"
		answer = " 00000001 0000000000000001 00000000 " // the header of the first request's
	)
	get := func(c *zk.Conn) error { _, _, err := c.Get("/a"); return err }
	children := func(c *zk.Conn) error { _, _, err := c.Children("/a"); return err }
	acl := func(c *zk.Conn) error { _, _, err := c.GetACL("/a"); return err }
	multi := func(c *zk.Conn) error {
		_, err := c.Multi(&zk.CheckVersionRequest{Path: "/a"})
		return err
	}
	for name, test := range map[string]struct {
		greeting, answer string
		ask              func(*zk.Conn) error
	}{
		"all there is":         {greeting: "7fffffff 00"},
		"a time-out below 0":   {greeting: strings.Replace(greeting, "00007530", "ffffff30", 1)},
		"a long password":      {greeting: strings.Replace(greeting, "00000010", "7fffffff", 1)},
		"a short answer":       {greeting, "00000004 00000001", get},
		"a long answer":        {greeting, "7fffffff", get},
		"long data":            {greeting, "00000014" + answer + "7fffffff", get},
		"no data":              {greeting, "00000010" + answer, get},
		"many children":        {greeting, "00000014" + answer + "ffffffff", children},
		"many rights":          {greeting, "00000014" + answer + "0fffffff", acl},
		"half a result":        {greeting, "00000014" + answer + "0000000d", multi},
		"a result without end": {greeting, "00000019" + answer + "0000000d 00 00000000", multi},
		"half a path": {
			greeting, "0000001f" + answer + "00000001 00 00000000 00000009 2f61", multi,
		},
		"another session": { // an event
			greeting, "0000001c ffffffff 0000000000000001 00000000 ffffffff 00000065 00000000", get,
		},
	} {
		t.Run(name, func(t *testing.T) {
			server, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer server.Close()
			go func() {
				conn, err := server.Accept()
				if err != nil {
					return
				}
				defer conn.Close()
				for _, frame := range []string{test.greeting, test.answer} {
					request := make([]byte, 4)
					if _, err := io.ReadFull(conn, request); err != nil {
						return
					}
					_, _ = io.CopyN(io.Discard, conn, int64(request[3]))
					text, _ := hex.DecodeString(strings.ReplaceAll(frame, " ", ""))
					_, _ = conn.Write(text)
				}
				_, _ = io.Copy(io.Discard, conn)
			}()
			c := Config{Servers: []string{server.Addr().String()}, Path: "/a"}
			conn, err := c.Session(t.Context(), c.Servers[0])
			if test.ask == nil {
				if err == nil {
					t.Error("a session")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if err := test.ask(conn); err == nil {
				t.Error("an answer")
			}
		})
	}
}
