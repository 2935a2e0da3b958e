package servers_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/internal/dialect"
)

// What soak_test/faults does to a cluster happens: a node that is stopped, killed or cut off, in
// either direction, does not answer, the others do, and when it is well again it answers.
func TestCluster(t *testing.T) {
	for _, k := range databases.Stores() {
		t.Run(string(k), func(t *testing.T) {
			c := dbtest.RunCluster(t, k, 3)
			try := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			signal := func(name string) func(*databases.Server) {
				return func(s *databases.Server) { try(s.Signal(t.Context(), name)) }
			}
			restart := func(*databases.Server) { try(c.Restart(t.Context())) }
			type disturbance struct{ ill, cure func(*databases.Server) }
			all := map[string]disturbance{
				"stopped": {signal("STOP"), signal("CONT")}, "killed": {signal("KILL"), restart},
			}
			cuts := map[string]databases.Links{
				"the others": databases.Peers, "requests": databases.FromClients,
				"answers": databases.ToClients,
			}
			if k == databases.Etcd { // one is as good as another
				cuts["packets from others"] = databases.FromPeers
				cuts["packets to others"] = databases.ToPeers
			}
			for name, links := range cuts {
				all["cut off from "+name] = disturbance{
					func(s *databases.Server) { dbtest.Cut(t, s, links) },
					func(s *databases.Server) { try(s.Heal(t.Context())) },
				}
			}
			for name, d := range all {
				t.Run(name, func(t *testing.T) {
					eventually(t, "all answer", func() error { return answer(t, c.Nodes...) })
					d.ill(c.Nodes[0])
					eventually(t, "it does not answer", func() error {
						if answer(t, c.Nodes[0]) == nil {
							return errors.New("it answers")
						}
						return nil
					})
					eventually(t, "others answer", func() error { return answer(t, c.Nodes[1:]...) })
					if answer(t, c.Nodes[0]) == nil {
						t.Error("it answers while it is ill")
					}
					d.cure(c.Nodes[0])
					eventually(t, "it answers again", func() error { return answer(t, c.Nodes...) })
				})
			}
		})
	}
}

// answer asks nodes for what needs a majority of their cluster.
func answer(t *testing.T, nodes ...*databases.Server) (err error) {
	t.Helper()
	for _, s := range nodes {
		err = errors.Join(err, s.Ask(t.Context()))
	}
	return err
}

// eventually repeats what must succeed in the end, on a machine however busy.
func eventually(t *testing.T, what string, do func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	var err error
	for range dialect.Attempts(ctx, 100*time.Millisecond) {
		if err = do(); err == nil {
			return
		}
	}
	t.Fatalf("%s: %v", what, err)
}
