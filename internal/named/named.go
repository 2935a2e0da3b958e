// Package named writes the texts of errors that begin with the name of their package once.
package named

import "strings"

// Bare returns an error's text without the name of a package of the launch log in front. Whoever
// wraps the error puts its own name there.
func Bare(err error) string {
	text := err.Error()
	name, rest, _ := strings.Cut(text, ": ")
	if name == "launchlog" || strings.HasPrefix(name, "launchlog/") {
		return rest
	}
	return text
}

// A failure is an error behind a package's name.
type failure struct {
	name string
	err  error
}

func (e *failure) Error() string {
	// Where both of two steps failed, one of them may say the name.
	return e.name + ": " + strings.TrimPrefix(Bare(e.err), e.name+": ")
}

func (e *failure) Unwrap() error { return e.err }

// Failed puts a package's name before an error, unless that is nil.
func Failed(name string, err error) error {
	if err == nil {
		return nil
	}
	return &failure{name, err}
}
