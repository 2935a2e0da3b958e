package rows

import "fmt"

// Ready is the advice for a step that waited in vain for a lock or a connection. A transaction of
// the app may hold it and itself wait for the step. A store cannot tell such a transaction from one
// that is about to end, so its steps wait until their context ends.
const Ready = "if a transaction of this process holds it, " +
	"call the generator's Ready before the transaction begins"

// NoConnection returns the error of a step whose context ended with err while all connections of an
// app's pool were in use.
func NoConnection(err error) error {
	return fmt.Errorf("%w: no connection of the pool became free: %s", err, Ready)
}
