// Answers questions about IDs by the decoder, a line of JSON for each line of standard input.
// javascript_test.go asks them, and knows the answers from package idtype.

import { createInterface } from "node:readline";

import {
  bounds, compose, format, forms, IDError, inspect, parse, parts, times, validate,
} from "../../docs/design/js/idmint.js";
import { permutation } from "../../docs/design/js/scramble.js";

const succeeds = (call) => {
  try {
    call();
    return true;
  } catch (error) {
    if (error instanceof IDError) {
      return false;
    }
    throw error;
  }
};

const about = (scheme, id, now) => ({
  id,
  texts: forms(scheme).map((form) => format(scheme, id, form)),
  valid: [undefined, "v1", "v2", "v3"].slice(0, scheme === "eightbyte" ? 4 : 1)
    .map((layout) => succeeds(() => validate(scheme, id, layout))),
  parts: JSON.stringify(parts(scheme, id), bigints),
  times: times(scheme, id, now).map((t) => t.getTime()),
});

const answers = {
  parse: ({ scheme, text, form, now }) => about(scheme, parse(scheme, text, form), now),
  inspect: ({ text }) => ({ fits: inspect(text).map((e) => e.scheme).sort() }),
  compose: ({ scheme, parts, layout }) => ({ id: compose(scheme, parts, layout) }),
  bounds: ({ scheme, from, to }) => ({
    ranges: bounds(scheme, from, to).map(({ min, max }) => [min, max]),
  }),
  scramble: async ({ kind, bits, key, text }) => {
    const p = await permutation(kind, bits, key);
    return { ids: [p.scramble(BigInt(text)), p.unscramble(BigInt(text))] };
  },
};

const bigints = (_, value) => typeof value === "bigint" ? String(value) : value;

for await (const line of createInterface({ input: process.stdin })) {
  const question = JSON.parse(line);
  let answer;
  try {
    answer = await answers[question.op](question);
  } catch (error) {
    if (!(error instanceof IDError)) {
      throw error; // no input may make the decoder fail otherwise
    }
    answer = { error: error.message };
  }
  console.log(JSON.stringify(answer, bigints));
}
