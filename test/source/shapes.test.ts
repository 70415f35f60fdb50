/** Lists in the shapes of the public ones, counted by Python's ipaddress, which reads nothing of ours. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import { formatTarget } from '../../src/signal/target.ts';
import { readContent } from '../../src/source/readers/content.ts';
import { readCondition, readPath } from '../../src/source/readers/paths.ts';
import { temporaryFolder } from '../support/folder.ts';

interface Shape {
  readonly file: string;
  readonly options: { readonly paths?: readonly string[]; readonly where?: string };
  readonly entries: readonly string[];
}

const folder = temporaryFolder({ after });
const python = spawnSync('python3', [join(import.meta.dirname, 'shapes.py'), folder], { encoding: 'utf8', maxBuffer: 1 << 28 });
const missing = python.error === undefined ? false : 'python3 is missing';
const NONE = { action: 'block', expiresIn: undefined, reason: undefined, labels: {} } as const;

suite('shapes of public lists', { skip: missing }, () => {
  test('D11.1 the shapes are made', () => assert.equal(python.status, 0, python.stderr));
  for (const line of python.stdout?.split('\n').filter(Boolean) ?? []) {
    const { file, options, entries } = JSON.parse(line) as Shape;
    test(`D11.1, D11.2 ${file}: ${entries.length} entries, as Python's ipaddress counts them`, async () => {
      const { paths, where } = options;
      const reading = { file, paths: paths?.map(readPath), condition: where === undefined ? undefined : readCondition(where) };
      const read = await readContent(createReadStream(join(folder, file), { highWaterMark: 777 }), reading, NONE);
      assert.ok('entries' in read, 'this is a list');
      const found: string[] = [];
      for await (const each of read.entries) {
        assert.ok(!('fault' in each), JSON.stringify(each));
        if ('entry' in each) found.push(formatTarget(each.entry.target));
      }
      assert.deepEqual(found.toSorted(), [...entries].sort());
    });
  }
});
