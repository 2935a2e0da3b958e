// The texts of IDs, and the other forms in which databases show them.

import { checkID, decimalDigits, fail, layoutOf, quote } from "./layouts.js";

/** The forms in which an ID of a scheme is written, "text" first. */
export function forms(scheme) {
  return [...layoutOf(scheme).forms];
}

function checkForm(scheme, form) {
  if (!layoutOf(scheme).forms.includes(form)) {
    fail(`${scheme} IDs have no form ${quote(form)}: want ${forms(scheme).join(", ")}`);
  }
}

/**
 * The ID that a text is, in the whole domain of the scheme. Only what format writes is read:
 * no spaces, no other case, no leading zeros. The forms are those of forms(scheme).
 */
export function parse(scheme, text, form = "text") {
  const refuse = (reason) => fail(`${quote(text)} is no ${scheme} ID: ${reason}`);
  checkForm(scheme, form);
  if (typeof text !== "string") {
    refuse("want a string");
  }
  switch (form) {
    case "number":
      return parseNumber(scheme, text, refuse);
    case "hex":
      return parseHex(layoutOf(scheme), text, refuse);
    case "uuid":
      return parseText(layoutOf(scheme), uuidText(text, refuse), refuse);
  }
  return parseText(layoutOf(scheme), text, refuse);
}

function parseText(layout, text, refuse) {
  const { alphabet, length, fixed } = layout;
  if (text.length >= 2 && text.startsWith('"') && text.endsWith('"')) {
    refuse("the text is in double quotes: remove them");
  }
  if (text.length > length || text.length < (fixed ? length : 1)) {
    refuse(`${text.length} characters, want ${fixed ? "" : "1 to "}${length}`);
  }
  let digits = layout.rotated ? text.slice(2) + text.slice(0, 2) : text;
  if (layout.hyphens) {
    if (!/^[^-]{8}-[^-]{4}-[^-]{4}-[^-]{4}-[^-]{12}$/.test(text)) {
      refuse("want the hyphens of a UUID");
    }
    digits = text.replaceAll("-", "");
  }
  const id = positional(digits, alphabet, refuse);
  if (id === 0n) {
    refuse("zero means not assigned");
  }
  if (!fixed && digits[0] === alphabet[0]) {
    refuse(`its highest digit is ${alphabet[0]}, which stands for 0 and must be left out`);
  }
  if (id > layout.max) {
    refuse(`above the largest ID, ${layout.max}`);
  }
  return id;
}

// positional is the number that digits of an alphabet are.
function positional(digits, alphabet, refuse) {
  let id = 0n;
  for (const digit of digits) {
    const value = alphabet.indexOf(digit);
    if (value < 0) {
      refuse(`${JSON.stringify(digit)} is none of the digits ${alphabet}`);
    }
    id = id * BigInt(alphabet.length) + BigInt(value);
  }
  return id;
}

// parseNumber reads what an integer column shows. That of an eightbyte ID is signed, or unsigned.
function parseNumber(scheme, text, refuse) {
  const layout = layoutOf(scheme);
  if (scheme !== "eightbyte") {
    return parseText({ ...layout, alphabet: decimalDigits, length: 19, rotated: false }, text,
      refuse);
  }
  if (text === "0") {
    refuse("zero means not assigned");
  }
  if (!/^-?[1-9][0-9]{0,19}$/.test(text)) {
    refuse("want the digits of an integer of 64 bits");
  }
  const number = BigInt(text);
  if (number > layout.max || number < -(2n ** 63n)) {
    refuse("want an integer of 64 bits");
  }
  return BigInt.asUintN(64, number);
}

// parseHex reads the bytes as databases show them: 5b9b…, 5B9B…, \x5b9b…, 0x5B9B….
function parseHex(layout, text, refuse) {
  const digits = text.startsWith("\\x") || text.startsWith("0x") ? text.slice(2) : text;
  if (digits.length !== layout.size / 4) {
    refuse(`${digits.length} digits, want ${layout.size / 4}`);
  }
  if (!/^([0-9a-f]*|[0-9A-F]*)$/.test(digits)) {
    refuse("want hexadecimal digits, in lower or upper case");
  }
  return BigInt("0x" + digits) || refuse("zero means not assigned");
}

// uuidText is the text whose 16 characters are the bytes of a UUID.
function uuidText(uuid, refuse) {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(uuid)) {
    refuse("want a UUID of hexadecimal digits in lower case");
  }
  return uuid.replaceAll("-", "").replaceAll(/../g, (byte) =>
    String.fromCharCode(parseInt(byte, 16)));
}

/** The text of an ID, or another of its forms. */
export function format(scheme, id, form = "text") {
  checkForm(scheme, form);
  checkID(scheme, id);
  const { alphabet, fixed, hyphens, length, rotated, size } = layoutOf(scheme);
  switch (form) {
    case "number":
      return String(BigInt.asIntN(64, id));
    case "hex":
      return id.toString(16).padStart(size / 4, "0");
    case "uuid":
      return [...format(scheme, id)].map((c) => c.charCodeAt(0).toString(16)).join("")
        .replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
  }
  let text = "";
  for (let rest = id; rest > 0n; rest /= BigInt(alphabet.length)) {
    text = alphabet[Number(rest % BigInt(alphabet.length))] + text;
  }
  if (hyphens) {
    return text.padStart(32, "0").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
  }
  if (fixed) {
    text = text.padStart(length, alphabet[0]);
  }
  return rotated ? text.slice(-2) + text.slice(0, -2) : text;
}

/**
 * The ID that a value of JSON.parse is, or null for null. It takes a string, and a number where a
 * float is exact. IDs of bytes are strings only. In JSON an ID is its text as a string.
 */
export function fromJSON(scheme, value) {
  const { fixed } = layoutOf(scheme);
  if (value === null) {
    return null;
  }
  if (typeof value !== "number" || fixed) {
    return parse(scheme, value);
  }
  if (!Number.isSafeInteger(value)) {
    fail(`${quote(value)} as a ${scheme} ID: a float has lost its digits: write it as a string`);
  }
  return parse(scheme, String(value), "number");
}
