// Public IDs in JavaScript, by docs/use/public-ids.md. It needs Node's crypto and nothing else.
//
//   node publicid.mjs vectors.json    compares both directions with the vectors
import { createCipheriv, createDecipheriv, createHash, createHmac } from 'node:crypto';

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const double = (x) => ((x << 1) & 31) ^ (x & 16 ? 5 : 0);

// sums are those of the check, over the prefix's bytes and the values of the characters.
function sums(prefix, values) {
  let sum = 0, power = 0;
  const parts = [...Buffer.from(prefix)].flatMap((b) => [b >> 5, b & 31]);
  for (const x of [...parts, ...values]) {
    sum ^= x;
    power = double(power) ^ x;
  }
  return [sum, power];
}

// check says whether a text is whole. It needs no key.
export function check(prefix, text) {
  if (!text.startsWith(prefix + '_')) return false;
  const values = [...text.slice(prefix.length + 1)].map((c) => alphabet.indexOf(c));
  return !values.includes(-1) && sums(prefix, values).every((x) => x === 0);
}

const derive = (form, prefix, key) =>
  createHmac('sha256', Buffer.from(key.split('-')[1], 'hex'))
    .update(`idmint/publicid/${form}/${prefix}`).digest();

const mask = (bits) => (1n << BigInt(bits)) - 1n;

// network is package scramble's, over 63 bits, forth or back.
function network(secret, x, back) {
  const hash = createHash('sha512').update('idmint/scramble/network/63')
    .update(secret.subarray(0, 16)).digest();
  const f = (half, round, bits) => {
    let z = (half + hash.readBigUInt64BE(8 * round)) & mask(64);
    z = (z * 0x9e3779b97f4a7c15n) & mask(64);
    z ^= z >> 32n;
    z = (z * 0xbf58476d1ce4e5b9n) & mask(64);
    return z >> BigInt(64 - bits);
  };
  const permute = (v) => {
    let l = v >> 32n, r = v & mask(32);
    const rounds = back ? [5, 4, 3, 2, 1, 0] : [0, 1, 2, 3, 4, 5];
    for (const i of rounds) {
      if (i % 2 === 0) l ^= f(r, i, 31);
      else r ^= f(l, i, 32);
    }
    return (l << 32n) | r;
  };
  const y = permute(x);
  return y === 0n ? permute(0n) : y;
}

const aes = (make, secret, block) => {
  const cipher = make('aes-256-ecb', secret, null).setAutoPadding(false);
  return Buffer.concat([cipher.update(block), cipher.final()]);
};

// format makes the text of an ID of 8 or 10 bytes.
export function format(form, prefix, key, id) {
  const secret = derive(form, prefix, key);
  let n, chars;
  if (form === 'scrambled') {
    n = network(secret, id.readBigUInt64BE(), false);
    chars = 13;
  } else {
    const block = Buffer.concat([Buffer.alloc(16 - id.length), id]);
    n = BigInt('0x' + aes(createCipheriv, secret, block).toString('hex'));
    chars = 26;
  }
  const values = [Number(key.split('-')[0])];
  for (let i = chars - 1; i >= 0; i--) values.push(Number((n >> BigInt(5 * i)) & 31n));
  for (let u = 0; u < 32; u++) {
    for (let v = 0; v < 32; v++) {
      if (sums(prefix, [...values, u, v]).every((x) => x === 0)) {
        return prefix + '_' + [...values, u, v].map((x) => alphabet[x]).join('');
      }
    }
  }
}

// parse is the ID of a text, as `size` bytes, or null.
export function parse(form, prefix, key, size, text) {
  const chars = form === 'scrambled' ? 13 : 26;
  if (!check(prefix, text) || text.length !== prefix.length + 1 + 1 + chars + 2) return null;
  const values = [...text.slice(prefix.length + 1)].map((c) => alphabet.indexOf(c));
  if (values[0] !== Number(key.split('-')[0])) return null;
  const n = values.slice(1, 1 + chars).reduce((v, x) => v * 32n + BigInt(x), 0n);
  const secret = derive(form, prefix, key);
  if (form === 'scrambled') {
    if (n === 0n || n > mask(63)) return null;
    const id = Buffer.alloc(8);
    id.writeBigUInt64BE(network(secret, n, true));
    return id;
  }
  if (n > mask(128)) return null;
  const shown = Buffer.from(n.toString(16).padStart(32, '0'), 'hex');
  const block = aes(createDecipheriv, secret, shown);
  return block.subarray(0, 16 - size).every((b) => b === 0) ? block.subarray(16 - size) : null;
}

if (process.argv[2]) {
  const { readFileSync } = await import('node:fs');
  const vectors = JSON.parse(readFileSync(process.argv[2], 'utf8'));
  for (const v of vectors) {
    const id = Buffer.from(v.bytes, 'hex');
    const text = format(v.form, v.prefix, v.key, id);
    const back = parse(v.form, v.prefix, v.key, id.length, v.text);
    if (text !== v.text || !back?.equals(id)) {
      console.error(v, text, back);
      process.exitCode = 1;
    }
    for (let i = 0; i < v.text.length; i++) {
      const wrong = v.text.slice(0, i) + (v.text[i] === '7' ? '8' : '7') + v.text.slice(i + 1);
      if (parse(v.form, v.prefix, v.key, id.length, wrong) !== null) {
        console.error(wrong, 'is read');
        process.exitCode = 1;
      }
    }
  }
  console.log(`${vectors.length} vectors`);
}
