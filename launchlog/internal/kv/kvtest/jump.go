package kvtest

import (
	"fmt"
	"regexp"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/kv"
)

var nextGenerator = regexp.MustCompile(`"next_generator_id":\d+`)

// Jump sets the next generator number of a launch that has claims. Pass it to storetest.Run if an
// engine is too slow to take 100,000 numbers.
func Jump(engine kv.Engine, ref launchlog.Ref, next int) error {
	part := fmt.Sprintf("%s/launch/%05d", ref.Namespace, ref.Launch)
	rows, err := engine.Read(ctx, part, "state")
	if err != nil {
		return err
	}
	state := fmt.Appendf(nil, `"next_generator_id":%d`, next)
	_, err = engine.Commit(ctx, part, kv.Change{
		Name: "state", Version: rows[0].Version,
		Value: nextGenerator.ReplaceAll(rows[0].Value, state),
	})
	return err
}
