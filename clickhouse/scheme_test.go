package clickhouse

import (
	"errors"
	"testing"
	"time"

	"github.com/idmint/idmint/idtype"
)

// A scheme that this package was not told of has no condition, and a codec that takes any column.
func TestUnknownScheme(t *testing.T) {
	now := time.Now()
	for _, f := range []form{
		{scheme: "tiny", storage: idtype.StorageBigint},
		{scheme: "tiny", storage: idtype.StorageBytes, size: 6},
	} {
		spans, err := spansOf(f, false, now, now)
		var none *TimeError
		if len(spans) != 0 || !errors.As(err, &none) || none.Scheme != "tiny" {
			t.Errorf("%s: %v, %v", f.storage, spans, err)
		}
		codec, reason := sortedCodec(f, false)
		_, bytes := sortedCodec(
			form{scheme: idtype.SchemeSno, storage: idtype.StorageBytes, size: 10}, false,
		)
		if codec != "ZSTD(1)" || reason == "" || reason == bytes {
			t.Errorf("%s: codec %s: %s", f.storage, codec, reason)
		}
	}
}
