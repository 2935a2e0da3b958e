package rows

import "github.com/idmint/idmint/launchlog"

// Ahead returns a [*launchlog.AheadError] if a step failed with err because there is already a row
// with a number that was not handed out yet: a launch, or a claim of ref's launch. Otherwise it
// returns err. List runs a query whose parameters are written as ?. For tables, see [Words].
func Ahead(
	ref launchlog.Ref, tables string, err error,
	list func(text string, args ...any) ([][2]int, error),
) error {
	text, args := `SELECT last_launch_id + 1, (SELECT coalesce(max(launch_id), 0)
		FROM idmint_launch l WHERE l.namespace = n.namespace)
		FROM idmint_namespace n WHERE namespace = ?`, []any{ref.Namespace}
	if ref.Launch != 0 {
		text, args = `SELECT next_generator_id, (SELECT coalesce(max(generator_id), -1)
			FROM idmint_generator g WHERE g.namespace = l.namespace AND g.launch_id = l.launch_id)
			FROM idmint_launch l WHERE namespace = ? AND launch_id = ?`, append(args, ref.Launch)
	}
	found, failed := list(Named(text, tables), args...)
	if failed != nil || len(found) == 0 || found[0][1] < found[0][0] {
		return err // it is more specific
	}
	return &launchlog.AheadError{
		Namespace: ref.Namespace, Launch: ref.Launch, Number: found[0][1], Next: found[0][0],
	}
}

// ScanPair scans a row of two numbers.
func ScanPair(r Row) (p [2]int, err error) {
	err = r.Scan(&p[0], &p[1])
	return p, err
}
