// Reads, writes and explains the IDs of idmint. ../formats.md specifies them, and the cases of
// ../vectors test this file. It has no dependencies, and runs in browsers and in Node from 18 on.
//
// An ID is a BigInt: its number, or its bytes as one number, big-endian. Numbers of JavaScript are
// floats, and lose the last digits of most IDs. So no function takes one for an ID.
//
//   const id = parse("short", "xinaS8QBh");      // 11093174944930914n
//   format("short", id);                         // "xinaS8QBh"
//   parts("short", id);                          // { unix_ms: 1562179504129, sequence: 270, … }
//   inspect("14150009200065");                   // what the text means in each scheme it fits
//   bounds("sno", Date.UTC(2025, 0), Date.UTC(2025, 1) - 1); // what a query compares with
//
// Every function throws an IDError for a bad input, and quotes the input.

import {
  checkID, fail, IDError, layoutOf, modes, quote, schemes, tracePeriod,
} from "./layouts.js";
import { format, forms, fromJSON, parse } from "./texts.js";

export { format, forms, fromJSON, IDError, parse, schemes };

const maxMoment = 8.6e15; // milliseconds on both sides of 1970: a Date ends a little later

function digitsOf(scheme, id) {
  checkID(scheme, id);
  const { base, size } = layoutOf(scheme);
  return id.toString(base).padStart(size, "0");
}

/**
 * The parts of an ID by their names in JSON. They are Numbers, but the number of a sequence is a
 * BigInt, and the mode is a name. They mean nothing where validate refuses the ID.
 */
export function parts(scheme, id) {
  const values = partValues(scheme, id);
  return "mode" in values ? { ...values, mode: modes[values.mode] } : values;
}

function partValues(scheme, id) {
  const { base, fields, ranges, clock } = layoutOf(scheme);
  const digits = digitsOf(scheme, id);
  const joined = {};
  let at = 0;
  for (const [part, width] of fields) {
    joined[part] = (joined[part] ?? "") + digits.slice(at, at + width);
    at += width;
  }
  if (joined.mode === "0") {
    joined.unix_ms = reversed(joined.unix_ms);
  }
  const values = {};
  for (const part of Object.keys(ranges)) {
    const value = BigInt((base === 2 ? "0b" : "") + joined[part]);
    values[part] = typeof ranges[part][0] === "bigint" ? value : Number(value);
    if (part === "unix_ms") {
      values[part] = clock.epoch + clock.unit * values[part];
    }
  }
  return values;
}

function reversed(digits) {
  return [...digits].reverse().join("");
}

/**
 * Throws where the ID does not follow the scheme's layout. Such an ID may be in a row that is older
 * than the scheme. The layout "v1", "v2" or "v3" is a former one of eightbyte IDs.
 */
export function validate(scheme, id, layout) {
  const values = partValues(scheme, id);
  checkParts(scheme, values, layout);
}

function checkParts(scheme, values, layout) {
  const { ranges, former = {} } = layoutOf(scheme);
  if (layout !== undefined && !Object.keys(former).includes(layout)) {
    fail(`${scheme} IDs had no layout ${quote(layout)}`);
  }
  for (const [part, [least, most]] of Object.entries({ ...ranges, ...former[layout] })) {
    const value = values[part];
    if (typeof value !== "bigint" && !Number.isSafeInteger(value)) {
      fail(`${scheme}: ${part} is ${quote(value)}, want an integer`);
    }
    if (value < least || value > most) {
      fail(`${scheme}: ${part} ${quote(value)} is outside ${least}..${most}`);
    }
  }
}

/** The ID of parts, which are integers as Number or BigInt, and the name of a mode. */
export function compose(scheme, parts, layout) {
  const id = assemble(scheme, parts, layout);
  checkID(scheme, id);
  return id;
}

// assemble is compose, and 0n where all parts are zero.
function assemble(scheme, parts, layout) {
  const { base, fields, ranges, clock } = layoutOf(scheme);
  if (typeof parts !== "object" || parts === null) {
    fail(`${quote(parts)} as parts of a ${scheme} ID: want an object`);
  }
  const values = {};
  for (const part of Object.keys(ranges)) {
    values[part] = parts[part];
  }
  if ("mode" in ranges) {
    values.mode = modes.indexOf(parts.mode);
    if (values.mode < 0) {
      fail(`${scheme}: mode is ${quote(parts.mode)}, want ${modes.join(" or ")}`);
    }
  }
  checkParts(scheme, values, layout);
  const rest = {}; // the digits of each part that no field has taken yet
  for (const part of Object.keys(ranges)) {
    let value = BigInt(values[part]);
    if (part === "unix_ms") {
      value = (value - BigInt(clock.epoch)) / BigInt(clock.unit);
    }
    const width = fields.reduce((sum, [name, width]) => name === part ? sum + width : sum, 0);
    rest[part] = value.toString(base).padStart(width, "0");
  }
  if (values.mode === 0) {
    rest.unix_ms = reversed(rest.unix_ms);
  }
  let digits = "";
  for (const [part, width] of fields) {
    digits += (rest[part] ?? "0").slice(0, width);
    rest[part] = rest[part]?.slice(width);
  }
  return BigInt((base === 2 ? "0b" : "") + digits);
}

// moment is a time in milliseconds.
function moment(name, time) {
  const ms = time instanceof Date ? time.getTime() : time;
  if (typeof ms !== "number" || !(Math.abs(ms) <= maxMoment)) {
    fail(`${name} is ${time instanceof Date ? `the date ${ms}` : quote(time)}: ` +
      "want a Date or milliseconds of Unix time");
  }
  return ms;
}

const modulo = (value, by) => ((value % by) + by) % by;

/**
 * When the ID was made, as Dates: none for schemes without a time; one; of a trace ID the last time
 * up to around, and the next one after it, 2^25 seconds later.
 */
export function times(scheme, id, around = Date.now()) {
  const { unix_ms, timestamp } = partValues(scheme, id);
  if (timestamp !== undefined) {
    const second = Math.floor(moment("around", around) / 1000);
    const last = second - modulo(second - timestamp, tracePeriod);
    return [new Date(last * 1000), new Date((last + tracePeriod) * 1000)];
  }
  return unix_ms === undefined ? [] : [new Date(unix_ms)];
}

/**
 * The smallest and the largest ID of a span of time, as ranges of { min, max }. Both ends are
 * included, with all of the second, the 4 ms or the millisecond in which they lie. They are two
 * ranges for trace IDs where the timestamp starts again. Of eightbyte IDs they are those of mode
 * TIME_SEQUENTIAL, compared as bytes. From and to are Dates, or milliseconds of Unix time.
 */
export function bounds(scheme, from, to) {
  const { ranges, clock } = layoutOf(scheme);
  const [first, last] = [moment("from", from), moment("to", to)];
  if (last < first) {
    fail(`from ${first} to ${last}: the span ends before it begins`);
  }
  const end = (which, changed) => {
    const all = { mode: "TIME_SEQUENTIAL" };
    for (const part of Object.keys(ranges).filter((part) => part !== "mode")) {
      all[part] = (changed[part] ?? ranges[part])[which];
    }
    return assemble(scheme, all);
  };
  // Zero is no ID. Where it would be the smallest, the next one is.
  const range = (changed) => ({ min: end(0, changed) || 1n, max: end(1, changed) });
  if (clock !== undefined) {
    return [range({ unix_ms: [Math.floor(first), Math.floor(last)] })];
  }
  if (scheme !== "trace") {
    fail(`${scheme} IDs carry no time`);
  }
  const [start, stop] = [Math.floor(first / 1000), Math.floor(last / 1000)];
  if (stop - start >= tracePeriod) {
    fail(`from ${first} to ${last}: the span is so long that timestamps repeat within it`);
  }
  const timestamps = [modulo(start, tracePeriod), modulo(stop, tracePeriod)];
  if (timestamps[0] <= timestamps[1]) {
    return [range({ timestamp: timestamps })];
  }
  return [range({ timestamp: [timestamps[0], tracePeriod - 1] }),
    range({ timestamp: [0, timestamps[1]] })];
}

/**
 * All about an ID that follows its layout, ready to be drawn: { scheme, id, text, parts, times,
 * base, digits, fields }. Digits are bits, or the decimal places. Fields follow each other, and
 * each has { part, digits, at, width }. A field of bits also has the numbers of its highest and
 * lowest bit, { high, low }: 0 is the last bit. Part is "" for bits that are always 0. The bits of
 * a field that is reversed are in the opposite order.
 */
export function explain(scheme, id, now = Date.now()) {
  validate(scheme, id);
  const { base, size, fields } = layoutOf(scheme);
  const all = digitsOf(scheme, id);
  const skipped = base === 10 ? size - format(scheme, id).length : 0; // leading zeros
  const values = parts(scheme, id);
  let end = 0;
  return {
    scheme, id, text: format(scheme, id), parts: values, times: times(scheme, id, now), base,
    digits: all.slice(skipped),
    fields: fields.map(([part, width, reserved]) => {
      const at = Math.max(end, skipped);
      end += width;
      const field = {
        part: reserved ? "" : part, digits: all.slice(at, end), at: at - skipped, width: end - at,
      };
      if (base === 2) {
        field.high = size - 1 - at;
        field.low = size - end;
        field.reversed = part === "unix_ms" && values.mode === "SPREAD";
      }
      return field;
    }),
  };
}

/**
 * What a text means in each scheme whose layout it follows, as explain has it. Schemes whose time
 * lies within the last five years come first, and those with another time last. Between them are
 * those that tell no single time. It is empty where the text fits no scheme.
 */
export function inspect(text, { form = "text", now = Date.now() } = {}) {
  const latest = moment("now", now) + 86_400_000;
  const earliest = new Date(now);
  earliest.setUTCFullYear(earliest.getUTCFullYear() - 5);
  const found = [];
  for (const scheme of schemes) {
    try {
      found.push(explain(scheme, parse(scheme, text, form), now));
    } catch (error) {
      if (!(error instanceof IDError)) {
        throw error;
      }
    }
  }
  const doubt = ({ times }) => times.length !== 1 ? 1
    : times[0] < earliest || times[0].getTime() > latest ? 2 : 0;
  return found.sort((a, b) => doubt(a) - doubt(b));
}
