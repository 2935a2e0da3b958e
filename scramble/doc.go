// Package scramble makes int64 IDs look random. It is a keyed permutation of all IDs, which only
// the key undoes.
//
// IDs of a generator show counters and times: how many orders there are, and which came next. Where
// that should not be seen, show a scrambled ID instead:
//
//	p, err := scramble.NewNetwork(scramble.Int63, key)
//	shown, err := scramble.ID(p, user.ID)      // a UserID that looks random
//	id, err := scramble.Original(p, shown)     // the one that is stored
//
// It is a bijection. Two IDs never become the same one, and every ID of the domain is the scrambled
// form of exactly one.
//
// # It hides, it does not secure
//
// Neither kind is a cipher. Whoever sees some pairs of an ID and its scrambled form may work out
// the rest. Of Multiplicative, the scrambled forms alone will do, without a single ID: a program
// found the key of a sequence from 64 forms in a row in 25 of 40 tries and from 128 in 44 of 60,
// within 0.1 s each, and then predicted 1,000 of 1,000 others. Any number leads to some ID, a
// guessed one as well: check permissions. What must withstand an attacker is a random token, or
// encrypted.
//
// # The two kinds
//
//	                                          [Multiplicative]              [Network]
//	is                                        multiplicative hashing        six rounds of Feistel
//	one ID costs                              two products and shifts       some times as much
//	IDs of generators, as they were minted    look random; in Int53 there   look random
//	                                          are weak keys, about 1 of
//	                                          1,000, which show a little
//	counters in the 15 highest bits           1 or 2 keys of 100 show them  look random
//	a bit of an ID flips                      any bit half of the time      any bit half of the time
//	two IDs that differ in a bit, under all   say something about each      say nothing about each
//	keys, seen on small networks              other                         other
//
// To look random is to pass tests of how often each bit and byte value comes, of runs up and down,
// and of what a number says about the next. The IDs were counters, and decimal, trace and short IDs,
// 16,384 in a row. The identity and plain multiplication fail. The table was measured when the mapping
// was chosen, which never changes; tests repeat its third row.
//
//	the forms of a sequence, in a row         64 to 128 give the key away   no way was found
//
// Take Network, unless nanoseconds count and nobody gains anything by the key.
//
// # Domains and zero
//
// [Int63] is the domain of all int64 IDs of this module, 1 ..= 2^63−1. [Int53], 1 ..= 2^53−1, is
// for readers whose numbers are floats, as in ECMAScript. It is for IDs that stay within it: those
// of a sequence, and decimal IDs up to counter 900,718. A larger one is an error. A permutation
// takes and gives values of its domain only. Zero, which means "not assigned", is not among them,
// and is an error.
//
// # The key
//
// A key is 16 bytes, any 16 bytes, made once:
//
//	openssl rand -hex 16
//
// and handed to the app as configuration, where [ParseKey] reads it. Keep it for ever, and out of
// logs. Without it scrambled IDs cannot be undone, and under another key they mean other rows.
// There is no way to change the key of IDs that are out. To notice a wrong key in time, compare the
// scrambled form of 1 with a constant as the app starts.
//
// Use one key per entity: with a shared one, user 57 and order 57 show the same number.
//
// # What it costs
//
// Scrambled IDs have no order: not by creation, not by time, and a range of them is nothing in
// particular. In a database they compress badly, to no less than their eight bytes. Inserts hit all
// of an index instead of its end. So store the ID as it was minted. Scramble where IDs leave the
// system: in URLs, in JSON, on receipts.
//
// The Go type stays the same, so that text, JSON and databases work as before. Nothing tells a
// scrambled ID from a minted one, though: its parts mean nothing, but most pass Validate. Keep them
// apart by where they are, or by a type of their own.
//
// # The mapping
//
// A kind, a domain and a key have the same mapping in all versions of this package, for ever. In
// full, for n bits, 63 or 53:
//
//   - The words w0 … w7 are the SHA-512 of the kind's label, n in decimal digits, and the 16 bytes
//     of the key, read as eight big-endian numbers of 64 bits. The labels are
//     "idmint/scramble/multiplicative/" and "idmint/scramble/network/".
//   - Multiplicative, modulo 2^n and with s = ⌈n/2⌉:
//     x += w0; x ^= x>>s; x *= w1|1; x ^= x>>s; x *= w2|1; x ^= x>>s.
//   - Network: x is split into l, its ⌊n/2⌋ high bits, and r, the rest. Six rounds change l by r, r
//     by l, and so on: l ^= F(r + w0), r ^= F(l + w1), … r ^= F(l + w5). F, modulo 2^64, is
//     z *= 0x9e3779b97f4a7c15; z ^= z>>32; z *= 0xbf58476d1ce4e5b9;
//     and of that as many high bits as the changed half has.
//   - Where the result is 0, take the one for x = 0 instead.
package scramble
