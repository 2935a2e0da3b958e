-- Functions that fields do not say: see SQL of facts.go.

-- postgres
-- t is around
time(id bigint, t timestamptz) RETURNS timestamptz => CASE WHEN {layout} AND isfinite(t) THEN
	(timestamp '1970-01-01' + interval '1 second' * ({second of} - (({second of} - (id >> 38)) &
	33554431))) {time} END
min(t timestamptz) RETURNS bigint => CASE WHEN isfinite(t) THEN ({second of} & 33554431) << 38 | 1
	END
max(t timestamptz) RETURNS bigint => CASE WHEN isfinite(t) THEN ({second of} & 33554431) << 38 |
	274877906943 END

-- mysql
-- t is around
time(id BIGINT, t DATETIME(6)) RETURNS DATETIME IF VALID => TIMESTAMP '1970-01-01 00:00:00' +
	INTERVAL CAST({second} AS SIGNED) - 68719476736 - CAST({second} + 33554432 - (id >> 38) & 33554431
	AS SIGNED) SECOND
min(t DATETIME(6)) RETURNS BIGINT => ({second} & 33554431) << 38 | 1
max(t DATETIME(6)) RETURNS BIGINT => ({second} & 33554431) << 38 | 274877906943

-- clickhouse
-- t is around
time AS (id, t) IF VALID => {time}({second} - 68719476736 - bitAnd({second} - bitShiftRight({n},
	38), 33554431)) * 1000{end of time}
min AS (t) => bitShiftLeft(bitAnd({second}, 33554431), 38) + 1
max AS (t) => bitShiftLeft(bitAnd({second}, 33554431), 38) + 274877906943
