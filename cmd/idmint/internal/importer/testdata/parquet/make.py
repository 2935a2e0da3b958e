"""Writes the files of this folder by another implementation than the one that reads them.

With pyarrow, duckdb, fastparquet and pandas: python3 make.py. Of each value stands here what an import stores.
"""

import datetime as dt
import decimal
import json
import uuid

import pyarrow as pa
import pyarrow.parquet as pq

D = decimal.Decimal
utc = dt.timezone.utc
day = dt.datetime(2026, 11, 23, 18, 44, 48, 220330)

# name, type, values, texts
columns = [
    ("int64", pa.int64(), [-(2**63), None, 2**63 - 1], [str(-(2**63)), None, str(2**63 - 1)]),
    ("int32", pa.int32(), [-(2**31), None, 7], [str(-(2**31)), None, "7"]),
    ("int8", pa.int8(), [-128, None, 127], ["-128", None, "127"]),
    ("uint8", pa.uint8(), [0, None, 255], ["0", None, "255"]),
    ("uint32", pa.uint32(), [0, None, 2**32 - 1], ["0", None, str(2**32 - 1)]),
    ("uint64", pa.uint64(), [0, None, 2**64 - 1], ["0", None, str(2**64 - 1)]),
    ("bool", pa.bool_(), [True, None, False], ["true", None, "false"]),
    ("float", pa.float32(), [0.1, None, float("-inf")], ["0.1", None, "-Infinity"]),
    ("double", pa.float64(), [1e300, None, float("nan")], ["1e+300", None, "NaN"]),
    ("decimal9", pa.decimal128(9, 2), [D("-0.05"), None, D("1234567.89")], ["-0.05", None, "1234567.89"]),
    ("decimal18", pa.decimal128(18, 0), [D("-7"), None, D("999999999999999999")], ["-7", None, "999999999999999999"]),
    (
        "decimal38",
        pa.decimal128(38, 10),
        [D("-1234567890123456789012345678.0123456789"), None, D("0.0000000001")],
        ["-1234567890123456789012345678.0123456789", None, "0.0000000001"],
    ),
    ("date", pa.date32(), [dt.date(1969, 12, 31), None, dt.date(2026, 2, 28)], ["1969-12-31", None, "2026-02-28"]),
    ("time_ms", pa.time32("ms"), [dt.time(0), None, dt.time(23, 59, 59, 999000)], ["00:00:00", None, "23:59:59.999"]),
    ("time_us", pa.time64("us"), [dt.time(1, 2, 3), None, dt.time(4, 5, 6, 7)], ["01:02:03", None, "04:05:06.000007"]),
    ("ts_ms", pa.timestamp("ms"), [dt.datetime(1969, 12, 31, 23, 59, 59, 999000), None, dt.datetime(2026, 1, 1)], ["1969-12-31T23:59:59.999", None, "2026-01-01T00:00:00"]),
    ("ts_us", pa.timestamp("us"), [day, None, day], ["2026-11-23T18:44:48.22033"] + [None, "2026-11-23T18:44:48.22033"]),
    ("ts_utc", pa.timestamp("us", tz="UTC"), [day.replace(tzinfo=utc), None, day.replace(tzinfo=utc)], ["2026-11-23T18:44:48.22033Z", None, "2026-11-23T18:44:48.22033Z"]),
    ("ts_ns", pa.timestamp("ns"), [1, None, -1], ["1970-01-01T00:00:00.000000001", None, "1969-12-31T23:59:59.999999999"]),
    ("text", pa.string(), ["", None, "a,\"b\"\t\n\\N ä"], ["", None, "a,\"b\"\t\n\\N ä"]),
    ("binary", pa.binary(), [b"", None, b"\x00\xff"], ["\\x", None, "\\x00ff"]),
    ("fixed", pa.binary(3), [b"abc", None, b"\x01\x02\x03"], ["\\x616263", None, "\\x010203"]),
    ("uuid", pa.uuid(), [uuid.UUID(int=0).bytes, None, uuid.UUID("0123abcd-4567-89ef-0123-456789abcdef").bytes], [str(uuid.UUID(int=0)), None, "0123abcd-4567-89ef-0123-456789abcdef"]),
    ("nothing", pa.null(), [None, None, None], [None, None, None]),
    ("dictionary", pa.dictionary(pa.int8(), pa.string()), ["x", None, "x"], ["x", None, "x"]),
]

table = pa.table({name: pa.array(values, type=t) for name, t, values, _ in columns})
with open("types.jsonl", "w") as expected:
    for i in range(3):
        json.dump({name: texts[i] for name, _, _, texts in columns}, expected, ensure_ascii=False)
        expected.write("\n")
pq.write_table(table, "types.parquet")
for codec in ["none", "gzip", "brotli", "zstd", "lz4"]:
    pq.write_table(table, f"types-{codec}.parquet", compression=codec, data_page_version="2.0", use_dictionary=False)
old = pa.table({"at": pa.array([1, None, -1], type=pa.timestamp("ns"))})
pq.write_table(old, "int96.parquet", use_deprecated_int96_timestamps=True)

numbers = [i if i % 7 else None for i in range(1000)]
pq.write_table(
    pa.table({"n": pa.array(numbers, type=pa.int64()), "name": [f"name {i % 13}" for i in range(1000)]}),
    "groups.parquet",
    row_group_size=301,
    data_page_size=64,
    write_batch_size=10,
)
pq.write_table(pa.table({"n": pa.array([], type=pa.int64())}), "empty.parquet")
for name, values in {"list": [[1], None], "struct": [{"a": 1}, None]}.items():
    pq.write_table(pa.table({"n": [1, 2], "nested": values}), f"{name}.parquet")
pq.write_table(pa.table({"n": pa.array([1.5], type=pa.float16())}), "float16.parquet")

# What the library reads wrong, or writes warnings about, of these writers. The same numbers are in
# TestParquetWriters.
import duckdb
import fastparquet
import numpy as np
import pandas as pd

number, drawn = 1, []
for _ in range(200):
    number = (number * 1103515245 + 12345) % 2**32
    drawn.append(number)
signed = [n - 2**32 if n >= 2**31 else n for n in drawn]
flags = [n % 16 < 11 if i % 5 else None for i, n in enumerate(drawn)]
rows = pa.table({
    "flag": pa.array([n % 16 < 11 for n in drawn]),
    "maybe": pa.array(flags),
    "number": pa.array(signed, type=pa.int32()),
    "unsigned": pa.array(drawn, type=pa.uint32()),
    "real": pa.array([n / 3 for n in drawn]),
    "word": pa.array([f"word {n % 13}" for n in drawn]),
})
pq.write_table(rows, "pyarrow.parquet", data_page_version="2.0", compression="lz4", use_dictionary=False, row_group_size=90)
db = duckdb.connect()
db.register("rows", rows)
db.execute("COPY rows TO 'duckdb.parquet' (FORMAT parquet, PARQUET_VERSION V2, COMPRESSION lz4_raw)")
fastparquet.write(
    "fastparquet.parquet",
    pd.DataFrame({"number": np.array(signed, dtype="int32"), "word": [f"word {n % 13}" for n in drawn],
                  "at": np.array([n * 10**9 for n in drawn], dtype="M8[ns]")}),
    times="int96", compression="LZ4_RAW", row_group_offsets=90,
)
