package measure

import (
	"context"
	"fmt"
	"time"
)

// A checkpointCount is of those that a PostgreSQL server has counted. After each it writes whole pages to
// the log, so one that is not ours makes the log longer.
type checkpointCount struct {
	timed, requested int64
	query            string // "" before the first
	others           int64  // that were not ours
}

// begin counts without a checkpoint of ours.
func (c *checkpointCount) begin(ctx context.Context, d *Database) error {
	if c.query != "" {
		return nil
	}
	version, err := d.number(ctx, "SELECT current_setting('server_version_num')::int")
	if err != nil {
		return err
	}
	c.query = "SELECT num_timed, num_requested FROM pg_stat_checkpointer"
	if version < 170_000 {
		c.query = "SELECT checkpoints_timed, checkpoints_req FROM pg_stat_bgwriter"
	}
	return c.read(ctx, d)
}

func (c *checkpointCount) read(ctx context.Context, d *Database) error {
	err := d.db.QueryRowContext(ctx, c.query).Scan(&c.timed, &c.requested)
	if err != nil {
		return fmt.Errorf("%s: %s: %w", d.Name, c.query, err)
	}
	return nil
}

// countTime bounds the wait for a server to count a checkpoint, which it does a moment after it.
const countTime = 5 * time.Second

// ours counts after a checkpoint that we asked for.
func (c *checkpointCount) ours(ctx context.Context, d *Database) error {
	before := *c
	for wait := time.Millisecond; wait < countTime; wait *= 2 {
		if err := c.read(ctx, d); err != nil {
			return err
		}
		if c.requested > before.requested {
			c.others += c.timed - before.timed + c.requested - before.requested - 1
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(wait):
		}
	}
	return fmt.Errorf("%s: it does not count its checkpoints", d.Name)
}
