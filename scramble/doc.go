// Package scramble makes int64 IDs look random, with a keyed permutation that only the holder of
// the key can undo.
//
// Minted IDs reveal counters and times: how many orders there are, and which came next. To hide
// that, show scrambled IDs instead:
//
//	p, err := scramble.NewNetwork(scramble.Int63, key)
//	shown, err := scramble.ID(p, user.ID)      // a UserID that looks random
//	id, err := scramble.Original(p, shown)     // the ID that is stored
//
// The mapping is a bijection: two IDs never become the same, and every ID of the domain is the
// scrambled form of exactly one ID.
//
// # Limits
//
// Scrambling hides IDs but does not secure them, because neither kind is a cipher. Anyone who sees
// some pairs of an ID and its scrambled form may be able to work out the others. For Multiplicative
// the scrambled forms alone suffice: a program found the key of a sequence from 64 consecutive
// forms in 25 of 40 tries, and from 128 forms in 44 of 60, within 0.1 s each, and then predicted
// 1,000 of 1,000 other forms. Any number decodes to some ID, even a guessed one, so check
// permissions. If a value must withstand attackers, use a random token or encryption.
//
// # The two kinds
//
//	                                          [Multiplicative]              [Network]
//	algorithm                                 multiplicative hashing        six rounds of Feistel
//	one ID costs                              two products and shifts       several times as much
//	minted IDs                                look random; in Int53 there   look random
//	                                          are weak keys, about 1 of
//	                                          1,000, which show a bias
//	counters in the 15 highest bits           1 or 2 keys of 100 show them  look random
//	flipping a bit of an ID changes           any bit half of the time      any bit half of the time
//	two IDs that differ in a bit, under all   reveal something about        reveal nothing about
//	keys, seen on small networks              each other                    each other
//
// IDs look random if they pass tests of how often each bit and byte value occurs, of runs up and
// down, and of what a number reveals about the next. The tests used counters, and decimal, trace,
// and short IDs, 16,384 of each in a row. The identity and plain multiplication fail. The table was
// measured when the mapping was chosen, and the mapping never changes; tests repeat its third row.
//
//	consecutive forms of a sequence           64 to 128 reveal the key      no attack was found
//
// Use Network, unless nanoseconds matter and nobody would gain anything from the key.
//
// # Domains and zero
//
// [Int63] is the domain of all int64 IDs of this module, 1 ..= 2^63−1. [Int53], 1 ..= 2^53−1, is
// for clients whose numbers are floats, as in ECMAScript. It requires IDs that stay within it, such
// as IDs of a sequence, and decimal IDs up to counter 900,718; a larger ID is an error. A
// permutation accepts and returns only values of its domain. Zero, which means "not assigned", is
// outside every domain, and therefore an error.
//
// # The key
//
// A key is any 16 bytes. Create it once:
//
//	openssl rand -hex 16
//
// Pass it to the app as configuration, to be read by [ParseKey]. Keep it forever, and out of logs.
// Without the key scrambled IDs cannot be undone, and with another key they decode to other rows.
// The key of published IDs cannot be changed. To detect a wrong key early, compare the scrambled
// form of 1 with a constant at startup.
//
// Use one key per entity. With a shared key, user 57 and order 57 would show the same number.
//
// # Costs
//
// Scrambled IDs are not ordered by creation or time, and a range of them has no meaning. In a
// database they compress badly, to no less than their eight bytes, and inserts are spread over the
// whole index instead of its end. Therefore, store IDs as they were minted, and scramble them where
// they leave the system: in URLs, in JSON, on receipts.
//
// The Go type stays the same, so that text, JSON, and databases work as before. However, nothing
// distinguishes a scrambled ID from a minted one: its parts mean nothing, but most scrambled IDs
// pass Validate. Keep the two apart by where they are used, or by separate types.
//
// # The mapping
//
// For each kind, domain, and key, the mapping is the same in all versions of this package, forever.
// In detail, for n bits, 63 or 53:
//
//   - The words w0 … w7 are the SHA-512 of the kind's label, n in decimal digits, and the 16 bytes
//     of the key, read as eight big-endian 64-bit numbers. The labels are
//     "idmint/scramble/multiplicative/" and "idmint/scramble/network/".
//   - Multiplicative, modulo 2^n and with s = ⌈n/2⌉:
//     x += w0; x ^= x>>s; x *= w1|1; x ^= x>>s; x *= w2|1; x ^= x>>s.
//   - Network: x is split into l, its ⌊n/2⌋ high bits, and r, the rest. Six rounds change l by r, r
//     by l, and so on: l ^= F(r + w0), r ^= F(l + w1), … r ^= F(l + w5). F, modulo 2^64, is
//     z *= 0x9e3779b97f4a7c15; z ^= z>>32; z *= 0xbf58476d1ce4e5b9;
//     reduced to as many high bits as the changed half has.
//   - If the result is 0, it is replaced by the result for x = 0.
package scramble
