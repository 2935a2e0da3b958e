// Package publicid shows IDs to the outside as a text with a prefix, and reads them back.
//
//	14150009200065          in the database, a BIGINT
//	user_04tj6jeh7nggw1ak   in URLs, in JSON, on receipts
//
// A [Codec] does so for the IDs of an entity. An app makes one for each entity, as it starts:
//
//	key, err := publicid.ParseKey(os.Getenv("PUBLIC_ID_KEY"))
//	users, err := publicid.NewScrambled[UserID]("user", key)
//	text, err := users.Format(user.ID)
//	id, err := users.Parse(text)
//
// An [ID] is a field of an API's structs. Its JSON is the public text, and its column the BIGINT.
//
// # The two forms
//
//	                       [NewScrambled]                  [NewEncrypted]
//	characters             16 behind the prefix            29 behind the prefix
//	takes                  integer IDs                     every ID of package idtype
//	hides order, counts    from readers                    from attackers as well
//	a made-up text         often leads to some ID          1 in 2^65 leads to an integer ID
//	by                     scramble.Network                AES-256, one block
//	Format takes           some 90 ns                      some 170 ns
//
// The scrambled form is no cipher: package scramble says what it hides and what it does not.
// Whoever sees some pairs of an ID and its text may work out the rest. Take it where the text only
// has to be short and has to show no counter.
//
// The encrypted form is one AES block, of zero bytes and the ID behind them. AES permutes the
// blocks, so equal IDs have equal texts. Nothing else of an ID can be told from its text. A text
// that was not made with the key opens to a block that does not begin with zeros, and is refused.
// Integer and eightbyte IDs have 8 such zero bytes, sno IDs 6. Integers have a zero bit besides. No
// shorter cipher was taken. The standard library has one of 64 bits, Triple DES, which NIST has
// withdrawn. A Feistel network of AES over 63 bits, as in NIST's FF1, would hide as much in 16
// characters. It would have no room for the zeros, so that each guess would lead to some ID.
//
// Neither form is a permission. An ID that a user got from somebody else reads well: check whose
// row it is. A link that is to open a row by itself takes a random token.
//
// # The text
//
//	user_ 0 4tj6jeh7nggw1 ak
//	▲     ▲ ▲             └ the check, 2 characters
//	│     │ └ the scrambled ID, 13 characters, or the block, 26
//	│     └ the number of the key
//	└ the prefix: letters in lower case, digits and _
//
// The characters are Crockford's base 32 in lower case: digits, and letters but i, l, o and u.
// Those look like 1, 0 and v. No two characters differ by case alone. All texts of a codec have the
// same length. Their order says nothing of the IDs' order.
//
// The check needs no key. It refuses every text with one or two wrong characters, and so every two
// that changed places. Of texts with more it refuses 1,023 of 1,024. It covers the prefix: under a
// prefix with one other letter, a text is always refused. Parse takes what Format writes, and
// nothing else: no upper case, no spaces, no other prefix.
//
// # Keys
//
// A [Key] is 32 random bytes and a number, 0 ..= 31:
//
//	echo "0-$(openssl rand -hex 32)"
//
// One key serves all entities and both forms, because each prefix and form derives its own from it.
// So user 57 and order 57 show unrelated texts. Keep the key where passwords are, and in a backup.
// Whoever loses it cannot read the texts that are out. The rows are unharmed.
//
// A text names its key. To change the key, give codecs the new one first and the old ones behind
// it: they format with the first and parse with all. Texts of a key that is left out are refused.
// Never give a number to a second key while texts of the first are out. The scrambled form would
// read them as IDs of other rows. To notice a wrong key, compare the text of one ID with a constant
// as the app starts.
//
// # The mapping
//
// A text is the same in all versions of this package. testdata/vectors.json has examples, and
// docs/use/public-ids.md describes each step.
package publicid
