package publicid_test

import (
	"errors"
	"testing"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/publicid"
)

// IDs of 16 bytes fill the block: no text of theirs could be told from one that was made up.
func TestEncryptedRefusesUUIDs(t *testing.T) {
	key, err := publicid.ParseKey("0-9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")
	if err != nil {
		t.Fatal(err)
	}
	c, err := publicid.NewEncrypted[idtype.UUID7ID]("user", key)
	var refused *publicid.SchemeError
	if c != nil || !errors.As(err, &refused) || refused.Scheme != idtype.SchemeUUID7 {
		t.Errorf("%v", err)
	}
}
