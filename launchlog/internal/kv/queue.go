package kv

import (
	"context"
	"hash/crc32"
)

// In a queue, the callers in one process that want to change the same partition take turns. Without
// it they would lose most commits to each other. Nobody holds a lock while waiting. Two partitions
// may share a lane.
type queue [256]chan struct{} // each lane holds one token, for the caller whose turn it is

func newQueue() *queue {
	q := new(queue)
	for i := range q {
		q[i] = make(chan struct{}, 1)
	}
	return q
}

// enter waits for the caller's turn in a partition. If it succeeds, the caller must call leave at
// the end. The error is the context's.
func (q *queue) enter(ctx context.Context, part string) (leave func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	lane := q[crc32.ChecksumIEEE([]byte(part))%uint32(len(q))]
	select {
	case lane <- struct{}{}:
		return func() { <-lane }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
