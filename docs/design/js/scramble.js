// The keyed permutations of idmint's package scramble, as ../formats.md specifies them. They make
// IDs look random, and hide their counters. They secure nothing.
//
//   const shown = await permutation("Network", 63, "000102030405060708090a0b0c0d0e0f");
//   shown.scramble(14150009200065n);
//   shown.unscramble(…);
//
// The key is hashed by the Web Cryptography of browsers and of Node. Browsers have it on pages that
// come by https, or from localhost.

import { fail, quote } from "./layouts.js";

const ones = (bits) => (1n << BigInt(bits)) - 1n;

/**
 * The permutation of 1 ..= 2^bits−1 that a key selects: { scramble, unscramble }, which take and
 * return a BigInt. The kind is "Multiplicative" or "Network", bits are 63 or 53, and the key is 32
 * hexadecimal digits in lower case. It rejects with an IDError, which does not quote the key.
 */
export async function permutation(kind, bits, key) {
  if (kind !== "Multiplicative" && kind !== "Network") {
    fail(`permutation ${quote(kind)}: want Multiplicative or Network`);
  }
  if (bits !== 63 && bits !== 53) {
    fail(`permutation of ${quote(bits)} bits: want 63 or 53`);
  }
  if (typeof key !== "string" || !/^[0-9a-f]{32}$/.test(key)) {
    fail("key: want 32 hexadecimal digits in lower case");
  }
  const words = await wordsOf(`idmint/scramble/${kind.toLowerCase()}/${bits}`, key);
  const [forth, back] = kind === "Network" ? network(bits, words) : multiplicative(bits, words);
  // Zero is no ID. The ID that would become zero becomes what zero would.
  const apply = (step) => (id) => {
    if (typeof id !== "bigint" || id < 1n || id > ones(bits)) {
      fail(`${quote(id)} is no BigInt in 1..${ones(bits)}`);
    }
    return step(id) || step(0n);
  };
  return { scramble: apply(forth), unscramble: apply(back) };
}

// wordsOf is the SHA-512 of the label and the key's bytes, as eight numbers of 64 bits.
async function wordsOf(label, key) {
  const bytes = new TextEncoder().encode(label + "\0".repeat(16));
  for (let i = 0; i < 16; i++) {
    bytes[label.length + i] = parseInt(key.slice(2 * i, 2 * i + 2), 16);
  }
  const view = new DataView(await (await digests()).digest("SHA-512", bytes));
  return Array.from({ length: 8 }, (_, i) => view.getBigUint64(8 * i));
}

async function digests() {
  if (globalThis.crypto?.subtle) {
    return globalThis.crypto.subtle;
  }
  try {
    return (await import("node:crypto")).webcrypto.subtle; // Node 18 has it there alone
  } catch {
    return fail("no SHA-512 here: load the page by https, or from localhost");
  }
}

function multiplicative(bits, [sum, first, second]) {
  const modulo = (x) => BigInt.asUintN(bits, x);
  const half = BigInt(Math.ceil(bits / 2));
  const fold = (x) => x ^ (x >> half); // which undoes itself
  const steps = (x, a, b) => fold(modulo(fold(modulo(fold(x) * a)) * b));
  const [a, b] = [first | 1n, second | 1n];
  return [
    (x) => steps(modulo(x + sum), a, b),
    (x) => modulo(steps(x, inverse(b), inverse(a)) - sum),
  ];
}

// inverse is the x for which odd·x is 1 modulo 2^64. Each step doubles the bits that are right.
// Three are right from the beginning.
function inverse(odd) {
  let x = odd;
  for (let right = 3; right < 64; right *= 2) {
    x = BigInt.asUintN(64, x * (2n - odd * x));
  }
  return x;
}

function network(bits, words) {
  const widths = [Math.floor(bits / 2), Math.ceil(bits / 2)]; // of the high and the low half
  const round = (halves, number) => {
    const changed = number % 2;
    let z = BigInt.asUintN(64, (halves[1 - changed] + words[number]) * 0x9e3779b97f4a7c15n);
    z ^= z >> 32n;
    z = BigInt.asUintN(64, z * 0xbf58476d1ce4e5b9n);
    halves[changed] ^= z >> BigInt(64 - widths[changed]);
  };
  const run = (rounds) => (x) => {
    const halves = [x >> BigInt(widths[1]), x & ones(widths[1])];
    rounds.forEach((number) => round(halves, number));
    return (halves[0] << BigInt(widths[1])) | halves[1];
  };
  return [run([0, 1, 2, 3, 4, 5]), run([5, 4, 3, 2, 1, 0])]; // each round undoes itself
}
