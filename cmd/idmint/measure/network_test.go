package measure

import (
	"bytes"
	"crypto/rand"
	"io"
	"net"
	"testing"
	"time"
)

// A round trip through a network that delays takes the delay, and not much more. What goes through
// it arrives whole, in both directions, and so does the end.
func TestDelayed(t *testing.T) {
	const delay = 4 * time.Millisecond
	near, far := net.Pipe()
	ended := make(chan error, 1)
	go func() {
		_, err := io.Copy(far, far) // an echo
		far.Close()
		ended <- err
	}()
	c := &flightConn{Conn: delayed(near, delay)}
	shortest := time.Hour
	for trip := 0; trip < 10 || shortest > 3*delay; trip++ { // a busy machine has longer ones
		sent := make([]byte, 100_000)
		rand.Read(sent)
		got := make([]byte, len(sent))
		began := time.Now()
		go func() { // an error is that of the read, too
			_, _ = c.Write(sent[:len(sent)/2])
			_, _ = c.Write(sent[len(sent)/2:])
		}()
		if _, err := io.ReadFull(c, got); err != nil || !bytes.Equal(got, sent) {
			t.Fatalf("trip %d: %v, or it is not what was sent", trip, err)
		}
		shortest = min(shortest, time.Since(began))
	}
	if shortest < delay {
		t.Errorf("the shortest round trip took %v, want %v", shortest, delay)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil { // the other side hears of the end
		t.Error(err)
	}
}

// eager takes whatever is sent, and has an answer at any time.
type eager struct{ net.Conn }

func (eager) Write(b []byte) (int, error) { return len(b), nil }
func (eager) Read(b []byte) (int, error)  { return len(b), nil }

// A flight is what is sent before an answer is read, in however many pieces.
func TestFlights(t *testing.T) {
	c := &flightConn{Conn: eager{}}
	some := make([]byte, 3)
	for flight, pieces := range []int{1, 3, 2} {
		for range pieces {
			if _, err := c.Write(some); err != nil {
				t.Fatal(err)
			}
			if got := c.count(); got != flight+1 {
				t.Errorf("%d flights, want %d", got, flight+1)
			}
		}
		for range 2 {
			if _, err := c.Read(some); err != nil {
				t.Fatal(err)
			}
		}
	}
}
