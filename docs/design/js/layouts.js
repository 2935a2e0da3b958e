// What idmint.js knows of each scheme, and how its errors look.

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

const max63 = 2n ** 63n - 1n;

// A layout is a scheme's ID as digits of a base, the highest first.
//
//   fields    parts and how many digits they have; those of a part that comes twice are joined, and
//             reserved ones are 0 in an ID of the layout
//   ranges    parts in the order of JSON, with their least and largest value
//   alphabet  the digits of the text, the first one standing for 0
//   length    of a text: at most, or exactly where fixed is set
//   clock     the part unix_ms counts so many milliseconds from this epoch
const layouts = {
  decimal: {
    base: 10, size: 19, max: max63, alphabet: decimalDigits, length: 19, forms: ["text", "number"],
    fields: [["counter", 9], ["generator_id", 5], ["launch_id", 5]],
    ranges: { counter: [1, 922337202], generator_id: [0, 99999], launch_id: [0, 99999] },
  },
  trace: {
    base: 2, size: 64, max: max63, alphabet: decimalDigits, length: 19, forms: ["text", "number"],
    fields: [["", 1], ["timestamp", 25], ["node_no", 16], ["bottom", 22]],
    ranges: {
      timestamp: [0, tracePeriod - 1], node_no: [0, 65535], bottom: [1, 4194303],
    },
  },
  eightbyte: {
    base: 2, size: 64, max: 2n ** 64n - 1n, alphabet: "0123456789abcdef", length: 16, fixed: true,
    forms: ["text", "number", "hex"],
    fields: [
      ["unix_ms", 42], ["sequence", 6], ["generator_id", 3], ["mode", 1], ["generator_id", 8],
      ["cluster_id", 4],
    ],
    ranges: {
      mode: [0, 1], unix_ms: [0, 2 ** 42 - 1], sequence: [0, 63], generator_id: [0, 2047],
      cluster_id: [0, 15],
    },
    clock: { epoch: 0, unit: 1 },
    // The layouts that came before have fewer generators. The first two have no mode.
    former: {
      v1: { mode: [0, 0], generator_id: [0, 63] },
      v2: { mode: [0, 0], generator_id: [0, 255] },
      v3: { generator_id: [0, 255] },
    },
  },
  short: {
    base: 2, size: 64, max: max63, length: 11, forms: ["text", "number"],
    alphabet: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
    // The first four bits are zero in an ID of the layout. In an older row they may be a number's.
    fields: [["unix_ms", 4, "reserved"], ["unix_ms", 42], ["sequence", 9], ["random", 9]],
    ranges: {
      unix_ms: [1519862400000, 1519862400000 + 2 ** 42 - 1], sequence: [0, 511], random: [0, 511],
    },
    clock: { epoch: 1519862400000, unit: 1 },
    rotated: true, // the last two digits of the text are in front
  },
  sno: {
    base: 2, size: 80, max: 2n ** 80n - 1n, length: 16, fixed: true,
    alphabet: "23456789abcdefghijklmnopqrstuvwx", forms: ["text", "hex", "uuid"],
    fields: [["unix_ms", 39], ["tick_tock", 1], ["meta", 8], ["partition", 16], ["sequence", 16]],
    ranges: {
      unix_ms: [1262304000000, 1262304000000 + 2 ** 41 - 1], tick_tock: [0, 1], meta: [0, 255],
      partition: [0, 65535], sequence: [0, 65535],
    },
    clock: { epoch: 1262304000000, unit: 4 },
  },
  sequence: {
    base: 2, size: 64, max: max63, alphabet: decimalDigits, length: 19, forms: ["text", "number"],
    fields: [["", 1], ["number", 63]],
    ranges: { number: [1n, max63] },
  },
};

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
