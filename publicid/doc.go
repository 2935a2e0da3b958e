// Package publicid converts IDs to public texts with a prefix, and back.
//
//	14150009200065          in the database, a BIGINT
//	user_04tj6jeh7nggw1ak   in URLs, in JSON, on receipts
//
// A [Codec] converts the IDs of one entity. An app creates one for each entity at startup:
//
//	key, err := publicid.ParseKey(os.Getenv("PUBLIC_ID_KEY"))
//	users, err := publicid.NewScrambled[UserID]("user", key)
//	text, err := users.Format(user.ID)
//	id, err := users.Parse(text)
//
// An [ID] is a type for fields of an API's structs. Its JSON is the public text, and its column is
// the BIGINT.
//
// # The two forms
//
//	                       [NewScrambled]                  [NewEncrypted]
//	characters             16 after the prefix             29 after the prefix
//	accepts                integer IDs                     every ID but [idtype.UUID7]
//	hides order, counts    from casual readers             from attackers too
//	a made-up text         often decodes to some ID        1 in 2^65 decodes to an integer ID
//	uses                   scramble.Network                AES-256, one block
//	Format takes           about 90 ns                     about 170 ns
//
// The scrambled form is not a cipher, and package scramble lists what it hides and what it does
// not. Anyone who sees some pairs of an ID and its text may be able to work out the others. Choose
// the scrambled form if the text only has to be short and must not look like a counter.
//
// The encrypted form is one AES block that holds zero bytes followed by the ID. AES permutes
// blocks, so equal IDs have equal texts, but nothing else about an ID can be learned from its text.
// A text that was not made with the key decrypts to a block that does not begin with zeros, and is
// rejected. Integer and eightbyte IDs leave 8 such zero bytes, and sno IDs leave 6; integers have
// one more zero bit. A shorter cipher is not an option: the standard library's 64-bit cipher,
// Triple DES, has been withdrawn by NIST. A Feistel network of AES over 63 bits, as in NIST's FF1,
// would hide as much in 16 characters, but it would leave no room for zeros, so that every guess
// would decode to some ID.
//
// Neither form grants permission. An ID that a user got from somebody else parses without an error,
// so check who owns the row. For a link that opens a row without further checks, use a random
// token.
//
// # The text
//
//	user_ 0 4tj6jeh7nggw1 ak
//	▲     ▲ ▲             └ the check: 2 characters
//	│     │ └ the scrambled ID: 13 characters, or the AES block: 26
//	│     └ the number of the key
//	└ the prefix: lower-case letters, digits, and _
//
// The characters are Crockford's base 32 in lower case: digits, and all letters except i, l, o, and
// u, which look like 1, 0, and v. No two characters differ only by case. All texts of a codec have
// the same length, and their order is unrelated to the order of the IDs.
//
// The check needs no key. It detects every error in one or two characters, including two characters
// that were swapped, and 1,023 of 1,024 errors in more. The check also covers the prefix, so that a
// text is always rejected under a prefix that differs in one letter. Parse accepts only the output
// of Format: no upper case, no spaces, and no other prefix.
//
// # Keys
//
// A [Key] consists of 32 random bytes and a number, 0 ..= 31:
//
//	echo "0-$(openssl rand -hex 32)"
//
// One key is enough for all entities and both forms, because each prefix and form derives its own
// secret from it. User 57 and order 57 therefore have unrelated texts. Store the key with your
// passwords, and in a backup: without it the texts already published cannot be read, although the
// rows are unharmed.
//
// A text names its key. To change the key, create codecs with the new key first and the old ones
// after it: they format with the first and parse with all of them. Texts of a key that is left out
// are rejected. Never reuse a number for another key while texts of the old key are in use, because
// the scrambled form would read them as the IDs of other rows. To detect a wrong key, compare the
// text of one ID with a constant at startup.
//
// # The mapping
//
// The text of an ID is the same in all versions of this package. testdata/vectors.json has
// examples, and docs/use/public-ids.md describes each step.
package publicid
