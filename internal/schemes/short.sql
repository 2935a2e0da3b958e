-- Functions that fields do not say: see SQL of facts.go.

-- postgres
text(id bigint) RETURNS text => CASE WHEN id > 0 THEN translate(substr({digits}, CASE WHEN id < 64
	THEN 12 ELSE 11 END) || ltrim(left({digits}, 10), 'A'), '+/', '-_') END
from_text(id text) RETURNS bigint => CASE WHEN id ~ '{pattern}' THEN ('x' ||
	substr(encode(decode(lpad(translate(substr(id, 3) || left(id, 2), '-_', '+/'), 12, 'A'),
	'base64'), 'hex'), 3))::bit(64)::bigint END

-- mysql
text(id BIGINT) RETURNS VARCHAR(11) {ascii} => CASE WHEN id > 0 THEN
	REPLACE(REPLACE(CONCAT(SUBSTR({digits}, IF(id < 64, 12, 11)), TRIM(LEADING 'A' FROM LEFT({digits},
	10))), '+', '-'), '/', '_') END
-- a dollar also stands before the line's end
from_text(id {text}) RETURNS BIGINT => CASE WHEN CONCAT(id, '.') REGEXP '{open pattern}[.]$' THEN
	{number of}FROM_BASE64(REPLACE(REPLACE(LPAD(CONCAT(SUBSTR(id, 3), LEFT(id, 2)), 12, 'A'), '-',
	'+'), '_', '/')){end} END

-- clickhouse
text AS (id) => if(id > 0, concat(substring({digits}, if(id < 64, 12, 11)), trim(LEADING 'A' FROM
	substring({digits}, 1, 10))), NULL)
from_text AS (id) => if(match(id, '{pattern}'),
	reinterpretAsInt64(reverse(substring(tryBase64Decode(translate(substring(concat(repeat('A', 11),
	substring(id, 3), substring(id, 1, 2)), -12), '-_', '+/')), 2, 8))), NULL)
