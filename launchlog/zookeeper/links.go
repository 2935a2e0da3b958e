package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/idmint/idmint/internal/dialect"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/kv"
)

// links has one link, which all calls use, and makes another when that one ends.
type links struct {
	*settings
	life    context.Context // ends when the store is closed
	stop    context.CancelFunc
	running sync.WaitGroup

	mu     sync.Mutex // guards what follows
	now    *link      // may be over
	making *making    // nil when no link is being made
	next   int        // the server to try first
}

// making is a search for a server. Link and err are set before done is closed.
type making struct {
	done chan struct{}
	link *link
	err  error
}

var (
	errClosed   = errors.New("the store is closed")
	errNoAnswer = errors.New("no answer yet")
)

func newLinks(c *settings) *links {
	life, stop := context.WithCancel(context.Background())
	return &links{settings: c, life: life, stop: stop, next: rand.IntN(len(c.servers))}
}

// get returns the link. All who wait for a new one wait for the same. The caller has entered.
func (p *links) get(ctx context.Context) (*link, error) {
	p.mu.Lock()
	if p.now != nil && !p.now.over() {
		defer p.mu.Unlock()
		return p.now, nil
	}
	if p.making == nil {
		m := &making{done: make(chan struct{})}
		p.making = m
		first := p.next
		p.running.Go(func() { p.search(m, first) })
	}
	m := p.making
	p.mu.Unlock()
	select {
	case <-m.done:
		return m.link, m.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// stagger is how long a server has for itself before the next one is tried beside it.
const stagger = 300 * time.Millisecond

// search tries the servers, from the first on, and keeps the link that is there first. A server
// that is stopped costs no more than the stagger.
func (p *links) search(m *making, first int) {
	type result struct {
		link   *link
		server int
		err    error
	}
	ctx, cancel := context.WithCancel(p.life)
	defer cancel()
	results := make(chan result)
	tried, open := 0, 0
	try := func() {
		server := (first + tried) % len(p.servers)
		tried++
		open++
		p.running.Go(func() {
			l, err := p.connect(ctx, p.servers[server], &p.running)
			results <- result{l, server, err}
		})
	}
	var won *result
	var errs []*launchlog.NodeError
	for try(); open > 0; {
		var later <-chan time.Time
		if tried < len(p.servers) && won == nil {
			later = time.After(stagger)
		}
		select {
		case <-later:
			try()
		case r := <-results:
			open--
			switch {
			case r.err == nil && won == nil:
				won = &r
				p.found(m, r.link, r.server, nil)
				cancel() // the others
			case r.err == nil:
				r.link.close()
			case won == nil:
				errs = append(errs, &launchlog.NodeError{Node: p.servers[r.server], Err: r.err})
				if tried < len(p.servers) {
					try()
				}
			}
		}
	}
	if won == nil {
		p.found(m, nil, (first+1)%len(p.servers), kv.Nodes(errs...))
	}
}

// found tells those who wait. The next search begins behind the server that was found.
func (p *links) found(m *making, l *link, server int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.life.Err() != nil && l != nil {
		l.end()
		l, err = nil, errClosed
	}
	if l != nil {
		p.now = l
		server++
	}
	p.next = server % len(p.servers)
	p.making = nil
	m.link, m.err = l, err
	close(m.done)
}

// enter begins a call that close waits for.
func (p *links) enter() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.life.Err() != nil {
		return errClosed
	}
	p.running.Add(1)
	return nil
}

// close ends all, and waits until it has ended.
func (p *links) close() {
	p.mu.Lock()
	p.stop()
	l := p.now
	p.mu.Unlock()
	if l != nil {
		l.close()
	}
	p.running.Wait()
}

// longestPause is that between two attempts of a call.
const longestPause = 200 * time.Millisecond

// with runs f on a link, and runs it again on another one while that ends before f has its answers.
// F returns what ask does. Where the context or the budget ends first, the error is an AttemptError
// that is not ambiguous: f knows better. The context's error is bare where nothing was tried.
func (p *links) with(ctx context.Context, f func(context.Context, *link) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := p.enter(); err != nil {
		return err
	}
	defer p.running.Done()
	trying, cancel := context.WithTimeout(ctx, p.budget)
	defer cancel()
	defer context.AfterFunc(p.life, cancel)()
	var last error // that says what was in the way
	ran := false
	for range dialect.Attempts(trying, longestPause) {
		l, err := p.get(trying)
		if err == nil {
			ran = true
			err = f(trying, l)
			var sent *sentError
			if !errors.As(err, &sent) && err != errOver && (err == nil || trying.Err() == nil) {
				return err
			}
			if trying.Err() != nil {
				err = errNoAnswer
			}
			last = &launchlog.NodeError{Node: l.server, Err: err}
		} else if trying.Err() == nil {
			last = err
		}
		if kv.Hopeless(last) {
			return &launchlog.AttemptError{Err: last}
		}
	}
	switch {
	case p.life.Err() != nil:
		return errClosed
	case ctx.Err() != nil && !ran && last == nil:
		return ctx.Err()
	case ctx.Err() != nil && last == nil:
		return &launchlog.AttemptError{Err: ctx.Err()}
	case ctx.Err() != nil:
		return &launchlog.AttemptError{Err: fmt.Errorf("%w: %w", ctx.Err(), last)}
	case last == nil:
		last = errSilent
	}
	return &launchlog.AttemptError{Err: fmt.Errorf("no answer within %v: %w", p.budget, last)}
}
