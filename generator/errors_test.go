package generator_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/idmint/idmint/generator"
)

// What a buffer says of its source begins with the package's name, once. What the source says is
// left as it is.
func TestBufferErrorsNameThePackage(t *testing.T) {
	away := errors.New("away")
	for want, source := range map[string]func(context.Context, []int) (int, error){
		"generator: the source panicked: away": func(context.Context, []int) (int, error) {
			panic(away)
		},
		"generator: the source ended its goroutine without an answer": func(
			context.Context, []int,
		) (int, error) {
			runtime.Goexit()
			return 0, nil
		},
		"generator: the source minted no IDs and returned no error": func(
			context.Context, []int,
		) (int, error) {
			return 0, nil
		},
		"away": func(context.Context, []int) (int, error) { return 0, away },
	} {
		b, err := generator.NewBuffer(generator.Source[int](sourceFunc(source)), 2)
		if err != nil {
			t.Fatal(err)
		}
		_, err = b.Next(t.Context())
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
		var number *generator.NumberError
		var panicked *generator.PanicError
		if strings.Contains(want, "panicked") &&
			!(errors.As(err, &number) && errors.As(err, &panicked) && errors.Is(err, away)) {
			t.Errorf("%#v wraps no PanicError", err)
		}
	}
}
