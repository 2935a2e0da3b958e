-- Functions that fields do not say: see SQL of facts.go.

-- postgres
time(id bytea) RETURNS timestamptz IF VALID =>
	({1970} ({bits}(39)::bigint * 4 + 1262304000000)) {time}
tick_tock(id bytea) RETURNS integer IF VALID => get_byte(id, 4) & 1
meta(id bytea) RETURNS integer IF VALID => get_byte(id, 5)
partition(id bytea) RETURNS integer IF VALID => (get_byte(id, 6) << 8) | get_byte(id, 7)
sequence(id bytea) RETURNS integer IF VALID => (get_byte(id, 8) << 8) | get_byte(id, 9)
min(t timestamptz) RETURNS bytea STRICT => greatest(decode(lpad(to_hex({unit} << 1), 10, '0') ||
	repeat('0', 10), 'hex'), decode(lpad('1', 20, '0'), 'hex'))
max(t timestamptz) RETURNS bytea STRICT => decode(lpad(to_hex({unit} << 1 | 1), 10, '0') ||
	repeat('f', 10), 'hex')
text(id bytea) RETURNS text IF VALID => (SELECT string_agg({character}, '' ORDER BY i) FROM
	generate_series(0, 15) i)
from_text(id text) RETURNS bytea => CASE WHEN id ~ '^[2-9a-x]{16}$' AND id <> repeat('2', 16) THEN
	{bytes of}substr(id, i + 1, 1){end of bytes} END
-- the characters of the text, as bytes
uuid(id bytea) RETURNS uuid IF VALID => (SELECT string_agg(to_hex(ascii({character})), '' ORDER BY
	i) FROM generate_series(0, 15) i)::uuid
from_uuid(id uuid) RETURNS bytea => CASE WHEN replace(id::text, '-', '') ~
	'^(3[2-9]|6[1-9a-f]|7[0-8]){16}$' AND id <> repeat('32', 16)::uuid THEN
	{bytes of}chr(get_byte(decode(replace(id::text, '-', ''), 'hex'), i)){end of bytes} END

-- mysql
time(id BLOB) RETURNS DATETIME(3) IF VALID =>
	{1970} (({number of}LEFT(id, 5){end} >> 1) * 4 + 1262304000000) MICROSECOND
tick_tock(id BLOB) RETURNS INT IF VALID => ORD(SUBSTR(id, 5, 1)) & 1
meta(id BLOB) RETURNS INT IF VALID => ORD(SUBSTR(id, 6, 1))
partition(id BLOB) RETURNS INT IF VALID => {number of}SUBSTR(id, 7, 2){end}
sequence(id BLOB) RETURNS INT IF VALID => {number of}SUBSTR(id, 9, 2){end}
min(t DATETIME(6)) RETURNS BINARY(10) => GREATEST(UNHEX(CONCAT(LPAD(HEX({unit} << 1), 10, '0'),
	'0000000000')), X'00000000000000000001')
max(t DATETIME(6)) RETURNS BINARY(10) => UNHEX(CONCAT(LPAD(HEX({unit} << 1 | 1), 10, '0'),
	'FFFFFFFFFF'))
text(id BLOB) RETURNS CHAR(16) {ascii} IF VALID => CONCAT({characters})
from_text(id {text}) RETURNS BINARY(10) => CASE WHEN CONCAT(id, '.') REGEXP '^[2-9a-x]{16}[.]$' AND
	id <> REPEAT('2', 16) THEN UNHEX(CONCAT({halves})) END
-- the characters of the text, as bytes
uuid(id BLOB) RETURNS CHAR(36) {ascii} =>
	INSERT(INSERT(INSERT(INSERT(LOWER(HEX(idmint_sno_text(id))), 21, 0, '-'), 17, 0, '-'), 13, 0,
	'-'), 9, 0, '-')
from_uuid(id {text}) RETURNS BINARY(10) => CASE WHEN CONCAT(REPLACE(id, '-', ''), '.') REGEXP
	'^(3[2-9]|6[1-9a-f]|7[0-8]){16}[.]$' THEN idmint_sno_from_text(UNHEX(REPLACE(id, '-', ''))) END

-- clickhouse
time AS (id) IF VALID =>
	{time}bitShiftRight(reinterpretAsUInt64(reverse(substring(id, 1, 5))), 1) * 4 + 1262304000000{end of time}
tick_tock AS (id) IF VALID => toInt32(bitAnd(reinterpretAsUInt8(substring(id, 5, 1)), 1))
meta AS (id) IF VALID => toInt32(reinterpretAsUInt8(substring(id, 6, 1)))
partition AS (id) IF VALID => toInt32(reinterpretAsUInt16(reverse(substring(id, 7, 2))))
sequence AS (id) IF VALID => toInt32(reinterpretAsUInt16(reverse(substring(id, 9, 2))))
min AS (t) => {bytes}concat(substring(concat(repeat('0', 10), hex(toUInt64({unit} * 2))), -10),
	if({unit} = 0, '0000000001', '0000000000'))), 10)
max AS (t) => {bytes}concat(substring(concat(repeat('0', 10), hex(toUInt64({unit} * 2 + 1))), -10),
	'ffffffffff')), 10)
text AS (id) IF VALID => toFixedString(concat({characters}), 16)
from_text AS (id) => if(match(id, '^[2-9a-x]{16}$') AND id != repeat('2', 16),
	{bytes}concat({halves})), 10), NULL)
uuid AS (id) => toUUID(UUIDNumToString(idmint_sno_text(id)))
from_uuid AS (id) => idmint_sno_from_text(UUIDStringToNum(toString(id)))
