// Package named formats errors so that they begin with the name of their package once.
package named

import "strings"

// Bare returns an error's text without the leading name of a package of the launch log, because the
// caller that wraps the error adds its own name.
func Bare(err error) string {
	text := err.Error()
	name, rest, _ := strings.Cut(text, ": ")
	if name == "launchlog" || strings.HasPrefix(name, "launchlog/") {
		return rest
	}
	return text
}

// A failure is an error with a package's name before it.
type failure struct {
	name string
	err  error
}

func (e *failure) Error() string {
	// If both of two steps failed, one of the errors may have the name already.
	return e.name + ": " + strings.TrimPrefix(Bare(e.err), e.name+": ")
}

func (e *failure) Unwrap() error { return e.err }

// Failed adds a package's name before an error, and returns nil for nil.
func Failed(name string, err error) error {
	if err == nil {
		return nil
	}
	return &failure{name, err}
}
