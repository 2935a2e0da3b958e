package kvtest

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/kv"
)

// Jump sets the next generator number of a launch that has claims. It is for storetest.Run, where
// an engine is too slow to take 100,000 of them.
func Jump(engine kv.Engine, ref launchlog.Ref, next int) error {
	part := fmt.Sprintf("%s/launch/%05d", ref.Namespace, ref.Launch)
	rows, err := engine.Read(context.Background(), part, "state")
	if err != nil {
		return err
	}
	var state map[string]any
	if err := json.Unmarshal(rows[0].Value, &state); err != nil {
		return err
	}
	state["next_generator_id"], state["write"] = next, fmt.Sprint("jump to ", next)
	value, err := json.Marshal(state)
	if err != nil {
		return err
	}
	done, err := engine.Commit(context.Background(), part,
		kv.Change{Name: "state", Version: rows[0].Version, Value: value})
	if err == nil && !done {
		err = fmt.Errorf("%s was changed meanwhile", part)
	}
	return err
}
