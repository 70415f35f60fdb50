import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { needs } from '../../../test/support/programs.ts';
import { seededRandom } from '../../../test/support/random.ts';
import { fuzzSets, fuzzStrings } from './fuzz.ts';

// The same with 100,000 strings and 10,000 sets: `node packages/network/test/fuzz.ts`.
const JUDGES = [
  { name: 'a slow reference', python: false, skip: false },
  { name: 'Python’s ipaddress', python: true, skip: needs('python3') },
];

for (const { name, python, skip } of JUDGES) {
  describe(`networks against ${name}`, { skip }, () => {
    test('D3 ip: mutated strings are judged alike', () => {
      const { valid, differences } = fuzzStrings(seededRandom(101), 5000, python);
      assert.deepEqual(differences, []);
      assert.ok(valid > 1000 && valid < 4000, `${valid} of 5000 strings are networks: the mutations miss their mark`);
    });

    test('4.3.4 sets of ranges are coalesced alike', () => {
      assert.deepEqual(fuzzSets(seededRandom(102), 500, python).differences, []);
    });
  });
}
