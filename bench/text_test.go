package bench

import (
	"strconv"
	"testing"

	gofrs "github.com/gofrs/uuid/v5"
	google "github.com/google/uuid"
	muyo "github.com/muyo/sno"
	"github.com/oklog/ulid/v2"
	"github.com/rs/xid"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
)

// Texts are of IDs that were minted one after the other, as a program meets them. They fit the
// first cache.
const texts = 256

func minted[T any](next func(i int) T) []T {
	ids := make([]T, texts)
	for i := range ids {
		ids[i] = next(i)
	}
	return ids
}

// decimals have 19 digits, where the IDs of a busy system end up.
func decimals() []idtype.DecimalID {
	return minted(func(i int) idtype.DecimalID {
		return must(
			idtype.DecimalParts{Counter: 723_456_789 + i, Generator: 12_345, Launch: 65}.ID(),
		)
	})
}

func shorts() []idtype.ShortID {
	g := must(generator.NewShort(generator.Given(struct{}{}), nil))
	return minted(func(int) idtype.ShortID { return must(g.Next(ctx)) })
}

func eightBytes() []idtype.EightByteID {
	g := newEightByte(1234)
	return minted(func(int) idtype.EightByteID { return must(g.Next(ctx)) })
}

func snos() []idtype.SnoID {
	g := must(generator.NewSno(generator.Given(12_345), nil))
	return minted(func(int) idtype.SnoID { return must(g.With(158).Next(ctx)) })
}

func muyos() []muyo.ID {
	g := newMuyo(12_345)
	return minted(func(int) muyo.ID { return g.New(158) })
}

// An encode turn writes each ID to a buffer of its goroutine. Libraries that cannot do that, but
// make a new text, pay for it here as they do in a program.
func encode[T any](b *testing.B, name string, ids []T, newTurn func(buf []byte) func() uint64) {
	b.Run(name, func(b *testing.B) {
		measure(b, len(ids), func() func() uint64 { return newTurn(make([]byte, 0, 64)) })
	})
}

// BenchmarkEncode is one text, made of an ID.
func BenchmarkEncode(b *testing.B) {
	numbers := decimals()
	encode(b, "strconv.AppendInt", numbers, func(buf []byte) func() uint64 {
		return func() (sum uint64) {
			for _, id := range numbers {
				sum ^= uint64(strconv.AppendInt(buf, int64(id), 10)[0])
			}
			return sum
		}
	})
	encode(b, "decimal", numbers, func(buf []byte) func() uint64 {
		return func() (sum uint64) {
			for _, id := range numbers {
				t, err := id.AppendText(buf)
				check(err)
				sum ^= uint64(t[0])
			}
			return sum
		}
	})
	short := shorts()
	encode(b, "short", short, func(buf []byte) func() uint64 {
		return func() (sum uint64) {
			for _, id := range short {
				t, err := id.AppendText(buf)
				check(err)
				sum ^= uint64(t[0])
			}
			return sum
		}
	})
	eight := eightBytes()
	encode(b, "eightbyte", eight, func(buf []byte) func() uint64 {
		return func() (sum uint64) {
			for _, id := range eight {
				t, err := id.AppendText(buf)
				check(err)
				sum ^= uint64(t[0])
			}
			return sum
		}
	})
	sno := snos()
	encode(b, "sno", sno, func(buf []byte) func() uint64 {
		return func() (sum uint64) {
			for _, id := range sno {
				t, err := id.AppendText(buf)
				check(err)
				sum ^= uint64(t[0])
			}
			return sum
		}
	})
	xids := minted(func(int) xid.ID { return xid.New() })
	encode(b, "xid", xids, func(buf []byte) func() uint64 {
		buf = buf[:20]
		return func() (sum uint64) {
			for _, id := range xids {
				sum ^= uint64(id.Encode(buf)[0])
			}
			return sum
		}
	})
	muyoIDs := muyos()
	encode(b, "muyo-sno", muyoIDs, func([]byte) func() uint64 {
		return func() (sum uint64) {
			for _, id := range muyoIDs {
				sum ^= uint64(id.String()[0])
			}
			return sum
		}
	})
	ulids := minted(func(int) ulid.ULID { return ulid.Make() })
	encode(b, "ulid", ulids, func(buf []byte) func() uint64 {
		buf = buf[:ulid.EncodedSize]
		return func() (sum uint64) {
			for _, id := range ulids {
				check(id.MarshalTextTo(buf))
				sum ^= uint64(buf[0])
			}
			return sum
		}
	})
	googles := minted(func(int) google.UUID { return must(google.NewV7()) })
	encode(b, "google-uuid7", googles, func([]byte) func() uint64 {
		return func() (sum uint64) {
			for _, id := range googles {
				sum ^= uint64(id.String()[0])
			}
			return sum
		}
	})
	gofrsIDs := minted(func(int) gofrs.UUID { return must(gofrs.NewV7()) })
	encode(b, "gofrs-uuid7", gofrsIDs, func([]byte) func() uint64 {
		return func() (sum uint64) {
			for _, id := range gofrsIDs {
				sum ^= uint64(id.String()[0])
			}
			return sum
		}
	})
}

// spelled are the texts of IDs.
func spelled[T interface{ String() string }](ids []T) []string {
	return minted(func(i int) string { return ids[i].String() })
}

// BenchmarkDecode is one ID, made of a text: with the strictest function that a library has.
func BenchmarkDecode(b *testing.B) {
	decode := func(name string, turn func() uint64) {
		b.Run(name, func(b *testing.B) { shared(b, texts, turn) })
	}
	numbers := spelled(decimals())
	decode("strconv.ParseInt", func() (sum uint64) {
		for _, s := range numbers {
			id, err := strconv.ParseInt(s, 10, 64)
			check(err)
			sum ^= uint64(id)
		}
		return sum
	})
	decode("decimal", func() (sum uint64) {
		for _, s := range numbers {
			id, err := idtype.Parse[idtype.DecimalID](s)
			check(err)
			sum ^= uint64(id)
		}
		return sum
	})
	short := spelled(shorts())
	decode("short", func() (sum uint64) {
		for _, s := range short {
			id, err := idtype.Parse[idtype.ShortID](s)
			check(err)
			sum ^= uint64(id)
		}
		return sum
	})
	eight := spelled(eightBytes())
	decode("eightbyte", func() (sum uint64) {
		for _, s := range eight {
			id, err := idtype.Parse[idtype.EightByteID](s)
			check(err)
			sum ^= fold(id[:])
		}
		return sum
	})
	sno := spelled(snos())
	decode("sno", func() (sum uint64) {
		for _, s := range sno {
			id, err := idtype.Parse[idtype.SnoID](s)
			check(err)
			sum ^= fold(id[:])
		}
		return sum
	})
	decode("muyo-sno", func() (sum uint64) { // the same texts
		for _, s := range sno {
			id, err := muyo.FromEncodedString(s)
			check(err)
			sum ^= fold(id[:])
		}
		return sum
	})
	xids := spelled(minted(func(int) xid.ID { return xid.New() }))
	decode("xid", func() (sum uint64) {
		for _, s := range xids {
			id, err := xid.FromString(s)
			check(err)
			sum ^= fold(id[:])
		}
		return sum
	})
	ulids := spelled(minted(func(int) ulid.ULID { return ulid.Make() }))
	decode("ulid", func() (sum uint64) {
		for _, s := range ulids {
			id, err := ulid.ParseStrict(s)
			check(err)
			sum ^= fold(id[:])
		}
		return sum
	})
	uuids := spelled(minted(func(int) google.UUID { return must(google.NewV7()) }))
	decode("google-uuid7", func() (sum uint64) {
		for _, s := range uuids {
			id, err := google.Parse(s)
			check(err)
			sum ^= fold(id[:])
		}
		return sum
	})
	decode("gofrs-uuid7", func() (sum uint64) { // the same texts
		for _, s := range uuids {
			id, err := gofrs.FromString(s)
			check(err)
			sum ^= fold(id[:])
		}
		return sum
	})
}
