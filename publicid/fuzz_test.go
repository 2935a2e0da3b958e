package publicid_test

import (
	"errors"
	"testing"

	"github.com/idmint/idmint/publicid"
)

// Parse never panics. What it takes is written back the same, and has a check that fits by the
// reference. Everything else is an *InputError of bounded length.
func FuzzParse(f *testing.F) {
	all := codecs(f)
	f.Add("")
	f.Add("user_")
	f.Add("user")
	f.Add("user_0000000000000000") // the check does not fit
	f.Add("USER_0000000000000000") // upper case
	f.Add("order_000000000000000") // another prefix, of the right length
	f.Add("user_zzzzzzzzzzzzzzzz") // more than 64 bits
	f.Add("user_0000000000000l00") // not in the alphabet
	f.Add("user_00000000000000é")  // not ASCII
	for _, body := range []string{
		"0" + crockford[:13], "0z" + crockford[:12], "7" + crockford[:26],
	} {
		f.Add(valid("user", body)) // the check fits, and perhaps no ID stands behind it
	}
	for _, c := range all {
		for _, id := range []UserID{1, 14150009200065, 1<<63 - 1} {
			f.Add(must(c.Format(id)))
		}
	}
	f.Fuzz(func(t *testing.T, s string) {
		for name, c := range all {
			id, err := c.Parse(s)
			if err != nil {
				var input *publicid.InputError
				if !errors.As(err, &input) || id != 0 || len(err.Error()) > 1000 {
					t.Fatalf("%s: %q: %d, %v", name, s, id, err)
				}
				continue
			}
			back, err := c.Format(id)
			sum, power := referenceCheck("user", s[len("user_"):])
			if back != s || err != nil || id <= 0 || sum != 0 || power != 0 {
				t.Fatalf("%s: %q is %d, which is %q, %v", name, s, id, back, err)
			}
		}
	})
}
