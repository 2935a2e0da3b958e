-- Functions that fields do not say: see SQL of facts.go.

-- postgres
mode(id bytea) RETURNS text IF VALID => CASE get_byte(id, 6) & 16 WHEN 0 THEN 'SPREAD' ELSE
	'TIME_SEQUENTIAL' END
-- the bits of a SPREAD time are reversed
time(id bytea) RETURNS timestamptz IF VALID => ({1970} CASE get_byte(id, 6) & 16 WHEN 0 THEN
	reverse({bits}(42)::text)::bit(42)::bigint ELSE {bits}(42)::bigint END) {time}
sequence(id bytea) RETURNS integer IF VALID => get_byte(id, 5) & 63
generator(id bytea) RETURNS integer IF VALID => (get_byte(id, 6) >> 5 << 8) | ((get_byte(id, 6) &
	15) << 4) | (get_byte(id, 7) >> 4)
cluster(id bytea) RETURNS integer IF VALID => get_byte(id, 7) & 15
min(t timestamptz) RETURNS bytea STRICT => decode(lpad(to_hex({unit} << 22 | 4096), 16, '0'),
	'hex')
max(t timestamptz) RETURNS bytea STRICT => decode(lpad(to_hex({unit} << 22 | 4194303), 16, '0'),
	'hex')
text(id bytea) RETURNS text IF VALID => encode(id, 'hex')
from_text(id text) RETURNS bytea => CASE WHEN id ~ '^[0-9a-f]{16}$' AND id <> repeat('0', 16) THEN
	decode(id, 'hex') END
number(id bytea) RETURNS bigint IF VALID => {bits}(64)::bigint
from_number(id bigint) RETURNS bytea => CASE WHEN id <> 0 THEN decode(lpad(to_hex(id), 16, '0'),
	'hex') END

-- mysql
mode(id BLOB) RETURNS VARCHAR(15) {ascii} IF VALID => IF(ORD(SUBSTR(id, 7, 1)) & 16 = 0, 'SPREAD',
	'TIME_SEQUENTIAL')
-- the bits of a SPREAD time are reversed
time(id BLOB) RETURNS DATETIME(3) IF VALID => {1970} IF(ORD(SUBSTR(id, 7, 1)) & 16 = 0,
	CAST(CONV(REVERSE(LPAD(BIN({number of}id{end} >> 22), 42, '0')), 2, 10) AS UNSIGNED),
	{number of}id{end} >> 22) MICROSECOND
sequence(id BLOB) RETURNS INT IF VALID => ORD(SUBSTR(id, 6, 1)) & 63
generator(id BLOB) RETURNS INT IF VALID => ORD(SUBSTR(id, 7, 1)) >> 5 << 8 | (ORD(SUBSTR(id, 7, 1))
	& 15) << 4 | ORD(SUBSTR(id, 8, 1)) >> 4
cluster(id BLOB) RETURNS INT IF VALID => ORD(SUBSTR(id, 8, 1)) & 15
min(t DATETIME(6)) RETURNS BINARY(8) => UNHEX(LPAD(HEX({unit} << 22 | 4096), 16, '0'))
max(t DATETIME(6)) RETURNS BINARY(8) => UNHEX(LPAD(HEX({unit} << 22 | 4194303), 16, '0'))
text(id BLOB) RETURNS CHAR(16) {ascii} IF VALID => LOWER(HEX(id))
from_text(id {text}) RETURNS BINARY(8) => CASE WHEN CONCAT(id, '.') REGEXP '^[0-9a-f]{16}[.]$' AND
	id <> REPEAT('0', 16) THEN UNHEX(id) END
number(id BLOB) RETURNS BIGINT IF VALID => CAST({number of}id{end} AS SIGNED)
from_number(id BIGINT) RETURNS BINARY(8) => CASE WHEN id <> 0 THEN UNHEX(LPAD(HEX(id), 16, '0'))
	END

-- clickhouse
mode AS (id) IF VALID => if(bitTest({number}, 12), 'TIME_SEQUENTIAL', 'SPREAD')
-- the bits of a SPREAD time are reversed
time AS (id) IF VALID => {time}if(bitTest({number}, 12), bitShiftRight({number}, 22),
	reinterpretAsUInt64(reverse(unbin(concat('000000', reverse(substring(bin(id), 1,
	42))))))){end of time}
sequence AS (id) IF VALID => toInt32(bitAnd(bitShiftRight({number}, 16), 63))
generator AS (id) IF VALID => toInt32(bitAnd(bitShiftRight({number}, 13), 7) * 256 +
	bitAnd(bitShiftRight({number}, 4), 255))
cluster AS (id) IF VALID => toInt32(bitAnd({number}, 15))
min AS (t) => {bytes}substring(concat(repeat('0', 16), hex(bitShiftLeft(toUInt64({unit}), 22) +
	4096)), -16)), 8)
max AS (t) => {bytes}substring(concat(repeat('0', 16), hex(bitShiftLeft(toUInt64({unit}), 22) +
	4194303)), -16)), 8)
text AS (id) IF VALID => lower(hex(id))
from_text AS (id) => if(match(id, '^[0-9a-f]{16}$') AND id != repeat('0', 16),
	{bytes}substring(concat(id, repeat('0', 16)), 1, 16)), 8), NULL)
number AS (id) IF VALID => reinterpretAsInt64(reverse(id))
from_number AS (id) => if(id != 0, {bytes}substring(concat(repeat('0', 16), hex({n})), -16)), 8),
	NULL)
