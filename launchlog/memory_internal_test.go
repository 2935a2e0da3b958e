package launchlog

import (
	"fmt"
	"testing"
)

// A counter for each of many customers does not fill the memory, and the launch is not forgotten.
func TestRemembered(t *testing.T) {
	var m memory
	launch := Usage{Launch: 7}
	for _, kind := range []Usage{launch, {}} {
		if err := m.took(kind, 0, 0, 5); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 3 * remembered {
		if err := m.took(Usage{Counter: fmt.Sprint(i)}, 0, 0, 1); err != nil {
			t.Fatal(err)
		}
	}
	if len(m.last) != remembered || m.last[launch] != 5 || m.last[Usage{}] != 5 {
		t.Errorf("%d numbers, %d of the launch", len(m.last), m.last[launch])
	}
}
