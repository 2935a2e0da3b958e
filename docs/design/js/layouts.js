// What idmint.js knows of each scheme, and how its errors look.

import { facts } from "./schemes.js";

/** A bad input: a text, an ID, a part or a time. */
export class IDError extends Error {
  name = "IDError";
}

/** Throws an IDError. */
export function fail(message) {
  throw new IDError("idmint: " + message);
}

/** An input as errors show it. It may be a megabyte, or no string at all. */
export function quote(input) {
  switch (typeof input) {
    case "string":
      return input.length <= 64 ? JSON.stringify(input)
        : `${JSON.stringify(input.slice(0, 64))}… (${input.length} characters)`;
    case "bigint": // more digits would take long to write
      return input === BigInt.asIntN(128, input) ? String(input) : "a BigInt of more than 128 bits";
    case "number":
    case "boolean":
    case "undefined":
      return String(input);
  }
  return input === null ? "null" : `a value of type ${typeof input}`;
}

export const decimalDigits = "0123456789";
export const tracePeriod = 2 ** 25; // seconds, after which timestamps start again
export const modes = ["SPREAD", "TIME_SEQUENTIAL"];

// A layout is a scheme's ID as digits of a base, the highest first.
//
//   fields    parts and how many digits they have; those of a part that comes twice are joined, and
//             reserved ones are 0 in an ID of the layout
//   ranges    parts in the order of JSON, with their least and largest value
//   alphabet  the digits of the text, the first one standing for 0
//   length    of a text: at most, or exactly where fixed is set
//   clock     the part unix_ms counts so many milliseconds from this epoch
//   former    layouts that came before, with other ranges
//   rotated   the last two digits of the text are in front
//   hyphens   the text has those of a UUID
//
// They are made of what Go knows of the schemes.
const layouts = Object.fromEntries(facts.map((f) => [f.scheme, layoutOfFacts(f)]));

function layoutOfFacts({ size, places, fields, parts, epoch, unit, text, forms }) {
  const base = places ? 10 : 2;
  const isReserved = (field) => field.Letter === "0".charCodeAt(0);
  const own = (name) => fields.filter((field) => field.Name === name && !isReserved(field));
  let names = parts.filter((name) => own(name).length > 0);
  if (names.length === 0) { // the ID is its only part
    names = fields.filter((field) => !isReserved(field)).map((field) => field.Name);
  }
  const range = (name) => {
    const of = own(name);
    const width = of.reduce((sum, field) => sum + field.Width, 0);
    let [least, most] = [BigInt(of[0].Min), BigInt(of[0].Max) || BigInt(base) ** BigInt(width) - 1n];
    if (name === "unix_ms") {
      [least, most] = [BigInt(epoch), BigInt(epoch) + (most + 1n) * BigInt(unit) - 1n];
    }
    return most > Number.MAX_SAFE_INTEGER ? [least, most] : [Number(least), Number(most)];
  };
  return {
    base, forms, alphabet: text.Alphabet, length: text.Longest,
    size: fields.reduce((sum, field) => sum + field.Width, 0),
    max: 2n ** BigInt(size * 8 || 63) - 1n,
    fixed: text.Shortest === text.Longest,
    fields: fields.map((f) => isReserved(f) && f.Name ? [f.Name, f.Width, "reserved"]
      : [f.Name, f.Width]),
    ranges: Object.fromEntries(names.map((name) => [name, range(name)])),
    clock: names.includes("unix_ms") ? { epoch, unit } : undefined,
  };
}

Object.assign(layouts.eightbyte, {
  // They have fewer generators. The first two have no mode.
  former: {
    v1: { mode: [0, 0], generator_id: [0, 63] },
    v2: { mode: [0, 0], generator_id: [0, 255] },
    v3: { generator_id: [0, 255] },
  },
});
layouts.short.rotated = true;
layouts.uuid7.hyphens = true;

/** The names of the schemes. */
export const schemes = Object.freeze(Object.keys(layouts));

/** The layout of a scheme. */
export function layoutOf(scheme) {
  if (typeof scheme !== "string" || !Object.hasOwn(layouts, scheme)) {
    fail(`unknown scheme ${quote(scheme)}: want ${schemes.join(", ")}`);
  }
  return layouts[scheme];
}

/** Refuses what is no ID of a scheme's domain. */
export function checkID(scheme, id) {
  const { max } = layoutOf(scheme);
  if (typeof id !== "bigint") {
    fail(`${quote(id)} as a ${scheme} ID: want a BigInt`);
  }
  if (id < 1n || id > max) {
    fail(`${quote(id)} is no ${scheme} ID: ` +
      (id === 0n ? "zero means not assigned" : `want 1 to ${max}`));
  }
}
