package storesuite

import (
	"testing"

	"github.com/idmint/idmint/launchlog"
)

// Fill brings a log to a state that [Refused] is about.
func Fill(t *testing.T, l *launchlog.Log) {
	t.Helper()
	start(t, l, "a")
	start(t, l, "b")
	if _, err := l.Claim(ctx, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := l.End(ctx, 1, launchlog.Ending{Outcome: launchlog.Failed}); err != nil {
		t.Fatal(err)
	}
	reserve(t, newCounter(t, l, "c"), 0, 10, 1)
}

// Refused are statements that change what was acknowledged, in the SQL that all databases know. A
// store's tables refuse them.
func Refused() []string {
	const launch = "INSERT INTO idmint_launch (namespace, launch_id, idempotency_key, " +
		"request_hash, service, environment, initiator, host) VALUES "
	return []string{
		"DELETE FROM idmint_launch",
		"DELETE FROM idmint_namespace",
		"DELETE FROM idmint_generator",
		"DELETE FROM idmint_launch_event",
		"UPDATE idmint_launch SET launch_id = 77 WHERE launch_id = 2",
		"UPDATE idmint_launch SET namespace = 'other'",
		"UPDATE idmint_launch SET service = 'other'",
		"UPDATE idmint_launch SET idempotency_key = 'A' WHERE launch_id = 1",
		"UPDATE idmint_launch SET request_hash = 'x'",
		"UPDATE idmint_launch SET data = '{}'",
		"UPDATE idmint_launch SET rolls_back = 1",
		"UPDATE idmint_launch SET next_generator_id = 0 WHERE launch_id = 1",
		"UPDATE idmint_launch SET next_generator_id = 100001",
		"UPDATE idmint_launch SET next_generator_id = NULL",
		"UPDATE idmint_launch SET ended_at = NULL, outcome = NULL WHERE launch_id = 1",
		"UPDATE idmint_launch SET outcome = 'succeeded' WHERE launch_id = 1",
		"UPDATE idmint_launch SET outcome = 'succeeded' WHERE launch_id = 2", // without a time
		"UPDATE idmint_namespace SET last_launch_id = 1",
		"UPDATE idmint_namespace SET last_launch_id = 100000",
		"UPDATE idmint_namespace SET last_launch_id = NULL",
		"UPDATE idmint_namespace SET namespace = 'other'",
		"UPDATE idmint_generator SET generator_id = 9",
		"UPDATE idmint_launch_event SET kind = 'x'",
		launch + "('default', 2, 'c', '', '', '', '', '')",
		launch + "('default', 3, 'a', '', '', '', '', '')",
		launch + "('default', 100000, 'c', '', '', '', '', '')",
		"INSERT INTO idmint_generator (namespace, launch_id, generator_id, token, host, pid) " +
			"VALUES ('default', 1, 0, 'x', 'h', 1)",
		"INSERT INTO idmint_generator (namespace, launch_id, generator_id, token, host, pid) " +
			"SELECT 'default', 1, 7, token, 'h', 1 FROM idmint_generator",
		"DELETE FROM idmint_counter",
		"UPDATE idmint_counter SET value = value - 1",
		"UPDATE idmint_counter SET value = -1",
		"UPDATE idmint_counter SET value = 9223372036854775807 + 1",
		"UPDATE idmint_counter SET value = NULL",
		"UPDATE idmint_counter SET name = 'd'",
		"UPDATE idmint_counter SET namespace = 'other'",
		"INSERT INTO idmint_counter (namespace, name, value) VALUES ('default', 'c', 0)",
		"INSERT INTO idmint_counter (namespace, name, value) VALUES ('default', 'd', -1)",
		"INSERT INTO idmint_counter (namespace, name, value) VALUES ('default', 'd', 'x')",
		"INSERT INTO idmint_counter (namespace, name, value) VALUES ('default', '', 1)",
	}
}
