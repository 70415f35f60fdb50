import assert from 'node:assert/strict';
import { test } from 'node:test';
import { corpusOf } from './corpus.ts';
import { TARGETS } from './targets.ts';

// Found and kept by `npm run fuzz`.
for (const [name, { run, rule }] of Object.entries(TARGETS)) {
  test(`${rule} the corpus of the fuzzers holds: ${name}`, () => {
    const texts = corpusOf(name);
    assert.ok(texts.length > 30);
    for (const text of texts) {
      try {
        run(text);
      } catch (error) {
        assert.fail(`${JSON.stringify(text)}: ${(error as Error).message}`);
      }
    }
  });
}
