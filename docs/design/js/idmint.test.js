// Tests the decoder with the vectors of ../vectors: node --test

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import {
  bounds, compose, explain, format, forms, fromJSON, IDError, inspect, parse, parts, schemes, times,
  validate,
} from "./idmint.js";
import { permutation } from "./scramble.js";

const read = (name) =>
  JSON.parse(readFileSync(new URL(`../vectors/${name}.json`, import.meta.url), "utf8"));

// What is wrong is an IDError that says what about.
const refuses = (call, about, note) =>
  assert.throws(call, (e) => e instanceof IDError && e.message.startsWith("idmint: ") &&
    e.message.includes(about) && e.message.length < 500, note);

// An integer beyond 2^53−1 is a string in the vectors.
const integers = (parts) => Object.fromEntries(Object.entries(parts).map(([name, value]) =>
  [name, /^-?\d+$/.test(value) && typeof value === "string" ? BigInt(value) : value]));

for (const scheme of schemes) {
  const file = read(scheme);
  assert.equal(file.format, 1);
  assert.equal(file.scheme, scheme);

  test(`${scheme}: valid`, () => {
    assert.ok(file.valid.length >= 100);
    for (const v of file.valid) {
      const id = parse(scheme, v.text);
      assert.equal(id, BigInt("0x" + v.hex), v.text);
      assert.equal(format(scheme, id), v.text);
      validate(scheme, id);
      assert.deepEqual(parts(scheme, id), integers(v.parts), v.text);
      assert.equal(compose(scheme, integers(v.parts)), id, v.text);
      const columns = { number: v.number, hex: v.hex, uuid: v.uuid };
      for (const form of forms(scheme).filter((form) => columns[form] !== undefined)) {
        assert.equal(format(scheme, id, form), columns[form]);
        assert.equal(parse(scheme, columns[form], form), id);
      }
      if (v.time) {
        assert.deepEqual(times(scheme, id).map((t) => t.toISOString()), [v.time]);
      }
      checkDrawing(explain(scheme, id), v);
      assert.ok(inspect(v.text).some((e) => e.scheme === scheme && e.id === id), v.text);
      for (const layout of v.layouts ?? []) {
        validate(scheme, id, layout);
        assert.equal(compose(scheme, v.parts, layout), id);
      }
      if (scheme === "eightbyte" && v.source === "formats") {
        for (const layout of ["v1", "v2", "v3"].filter((l) => !v.layouts?.includes(l))) {
          refuses(() => validate(scheme, id, layout), "is outside", v.text);
        }
      }
    }
  });

  test(`${scheme}: older and invalid`, () => {
    for (const v of file.older ?? []) {
      const id = parse(scheme, v.text);
      assert.equal(id, BigInt("0x" + v.hex));
      assert.equal(v.number === undefined ? format(scheme, id, "hex") : format(scheme, id, "number"),
        v.number ?? v.hex);
      refuses(() => validate(scheme, id), v.part, v.text);
      refuses(() => explain(scheme, id), v.part, v.text);
      assert.ok(inspect(v.text).every((e) => e.scheme !== scheme));
    }
    assert.ok(file.invalid.length >= 20);
    for (const v of file.invalid) {
      refuses(() => parse(scheme, v.text), JSON.stringify(v.text), v.text);
      assert.ok(inspect(v.text).every((e) => e.scheme !== scheme), v.text);
    }
    for (const v of file.invalid_parts ?? []) {
      const about = v.part === "" ? "not assigned" : v.part;
      refuses(() => compose(scheme, integers(v.parts), v.layout), about, JSON.stringify(v));
    }
  });

  test(`${scheme}: JSON`, () => {
    for (const v of file.json) {
      const value = JSON.parse(v.json);
      assert.equal(fromJSON(scheme, value), v.text === null ? null : parse(scheme, v.text));
    }
    for (const text of file.invalid_json) {
      const value = JSON.parse(text);
      if (text !== "1e3") { // which JSON.parse makes 1000
        refuses(() => fromJSON(scheme, value), "idmint", text);
      }
    }
  });

  test(`${scheme}: bounds and times`, () => {
    for (const v of file.bounds ?? []) {
      if (v.error) {
        refuses(() => bounds(scheme, v.from, v.to),
          { inverted: "before it begins", period: "repeat", time: "unix_ms" }[v.error],
          JSON.stringify(v));
        continue;
      }
      for (const [from, to] of [[v.from, v.to], [new Date(v.from), new Date(v.to)]]) {
        assert.deepEqual(bounds(scheme, from, to).map(({ min, max }) =>
          ({ min: format(scheme, min), max: format(scheme, max) })), v.ranges, JSON.stringify(v));
      }
    }
    if (!file.bounds) {
      refuses(() => bounds(scheme, 0, 1), "carry no time");
    }
    for (const v of file.times ?? []) {
      assert.deepEqual(times(scheme, parse(scheme, v.text), v.around)
        .map((t) => t.toISOString().replace(".000", "")), v.times, JSON.stringify(v));
    }
    for (const v of file.near ?? []) {
      assert.equal(nearVerdict(v), v.verdict, JSON.stringify(v));
    }
  });
}

// Fields lie side by side over all digits, and their digits are those of the parts.
function checkDrawing(drawing, v) {
  let at = 0;
  const size = drawing.base === 2 ? drawing.digits.length : 0;
  const joined = {};
  for (const field of drawing.fields) {
    assert.equal(field.at, at);
    assert.equal(drawing.digits.slice(at, at + field.width), field.digits);
    if (drawing.base === 2) {
      assert.deepEqual([field.high, field.low], [size - 1 - at, size - at - field.width]);
      assert.equal(field.reversed, field.part === "unix_ms" && v.parts.mode === "SPREAD");
    }
    if (field.part === "") {
      assert.match(field.digits, /^0+$/);
    }
    at += field.width;
    joined[field.part] = (joined[field.part] ?? "") + field.digits;
  }
  assert.equal(at, drawing.digits.length);
  const reserved = { trace: 1, sequence: 1, short: 4, snowflake: 1 }[drawing.scheme] ?? 0;
  assert.equal(joined[""]?.length ?? 0, reserved);
  const digits = drawing.base === 2 ? BigInt("0b" + drawing.digits) : BigInt(drawing.digits);
  assert.equal(digits, drawing.id);
  for (const [part, value] of Object.entries(v.parts)) {
    if (part !== "unix_ms" && part !== "mode") {
      assert.equal(BigInt((drawing.base === 2 ? "0b" : "") + joined[part]), BigInt(value), part);
    }
  }
}

// nearVerdict is elfo's check of an ID that comes from outside, made of the two nearest times.
function nearVerdict(v) {
  let id;
  try {
    id = parse("trace", v.raw);
  } catch {
    return v.raw === "0" ? "cannot be zero" : "highest bit must be zero";
  }
  if (v.allowed_secs === null) {
    return "ok";
  }
  const now = v.now_unix * 1000;
  const away = Math.min(...times("trace", id, now).map((t) => Math.abs(t - now))) / 1000;
  return away <= Number(v.allowed_secs) ? "ok" : "invalid timestamp";
}

test("scramble", async () => {
  const file = read("scramble");
  assert.ok(file.cases.length >= 300);
  const made = new Map();
  for (const v of file.cases) {
    const name = [v.kind, v.bits, v.key].join();
    made.set(name, made.get(name) ?? await permutation(v.kind, v.bits, v.key));
    const p = made.get(name);
    assert.equal(p.scramble(BigInt(v.id)), BigInt(v.scrambled), JSON.stringify(v));
    assert.equal(p.unscramble(BigInt(v.scrambled)), BigInt(v.id), JSON.stringify(v));
  }
  const key = file.cases[0].key;
  for (const kind of ["Multiplicative", "Network"]) {
    for (const v of file.invalid_ids) {
      const p = await permutation(kind, v.bits, key);
      refuses(() => p.scramble(BigInt(v.id)), v.id);
      refuses(() => p.unscramble(BigInt(v.id)), v.id);
    }
  }
  for (const bad of file.invalid_keys) {
    await assert.rejects(permutation("Network", 63, bad), (e) => e instanceof IDError &&
      (bad === "" || !e.message.includes(bad))); // keys are secrets, and errors are logged
  }
  for (const args of [["network", 63, key], ["Network", 64, key], ["Network", 63n, key],
    [Symbol("x"), 63, key], ["Network", 63, null]]) {
    await assert.rejects(permutation(...args), IDError);
  }
  const p = await permutation("Network", 63, key);
  for (const bad of [1, "1", null, undefined, {}, 1n << 100_000n]) {
    refuses(() => p.scramble(bad), "1..");
  }
});

test("any input", () => {
  const strange = [
    undefined, null, 0, 1, NaN, -0, Infinity, true, 1n, Symbol("x"), {}, [], ["1"], () => 1,
    Object.create(null), new Date(NaN), "", "\ud800", "\u{1f600}".repeat(8), "x".repeat(1 << 20),
    "9".repeat(1 << 20), "constructor", "__proto__", "２".repeat(16), "1\n", "\\x", "0x",
  ];
  for (const scheme of schemes) {
    for (const input of strange) {
      for (const form of forms(scheme)) {
        if (!(scheme === "short" && form === "text" && ["0x", "__proto__"].includes(input))) {
          refuses(() => parse(scheme, input, form), "idmint");
        }
      }
      if (input !== undefined) {
        refuses(() => parse(scheme, "1", input), "form");
      }
      if (typeof input !== "bigint") {
        refuses(() => format(scheme, input), "BigInt");
        refuses(() => parts(scheme, input), "BigInt");
        refuses(() => validate(scheme, input), "BigInt");
      }
      refuses(() => compose(scheme, input), scheme);
      if (input !== undefined) {
        refuses(() => validate(scheme, 20000000000n, input), "layout");
      }
      assert.ok(Array.isArray(inspect(input)));
    }
    for (const id of [0n, -1n, 1n << 128n, -(1n << 63n), 1n << 1_000_000n]) {
      refuses(() => format(scheme, id), scheme);
      refuses(() => validate(scheme, id), scheme);
    }
  }
  for (const input of strange) {
    refuses(() => parse(input, "1"), "unknown scheme");
    refuses(() => format(input, 1n), "unknown scheme");
  }
  for (const bad of [NaN, Infinity, 9e15, "2025-01-01", 1n, null, new Date(NaN)]) {
    refuses(() => bounds("short", bad, 1562179504129), "from is");
    refuses(() => bounds("trace", 0, bad), "to is");
    refuses(() => times("trace", 1n, bad), "around is");
  }
  for (const value of [1.5, NaN, "1", null, undefined, {}, 1n << 100_000n, -1, -1n]) {
    const parts = { counter: 1, generator_id: value, launch_id: 1 };
    refuses(() => compose("decimal", parts), "generator_id");
  }
});

// A time within a millisecond is in it.
test("bounds round down", () => {
  for (const [scheme, at] of [["short", 1562179504129], ["sno", 1562179504129], ["trace", -1]]) {
    assert.deepEqual(bounds(scheme, at + 0.25, at + 0.75), bounds(scheme, at, at));
    refuses(() => bounds(scheme, at + 0.75, at + 0.25), "before it begins");
  }
});

// The latest times come first.
test("inspect sorts by doubt", () => {
  const now = Date.UTC(2026, 0);
  const text = format("eightbyte", compose("eightbyte", {
    mode: "TIME_SEQUENTIAL", unix_ms: now, sequence: 2, generator_id: 1161, cluster_id: 11,
  }));
  assert.equal(inspect("14150009200065", { now }).map((e) => e.scheme).join(),
    "decimal,trace,sequence,snowflake");
  const both = "333333333333333a"; // of 2012 as sno, and of 1997 as eightbyte
  const first = (text, now) => inspect(text, { now }).map((e) => e.scheme).join();
  assert.equal(first(both, Date.UTC(2013, 0)), "sno,eightbyte");
  assert.equal(first(both, Date.UTC(1998, 0)), "eightbyte,sno");
  assert.equal(first(both, Date.UTC(2030, 0)), "eightbyte,sno"); // in the order of schemes
  assert.equal(first(text, now).split(",")[0], "eightbyte");
  assert.deepEqual(inspect("3866686d-6937-6d66-6c73-36326a703634", { form: "uuid" })
    .map((e) => e.text), ["8fhmi7mfls62jp64"]);
  assert.deepEqual(inspect("\\x335F48168D9E8808DC82", { form: "hex" }).map((e) => e.text),
    ["8fhmi7mfls62jp64"]);
});
