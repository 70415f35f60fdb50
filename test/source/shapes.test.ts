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
  readonly options: {
    readonly paths?: readonly string[];
    readonly where?: string;
    readonly action?: 'block' | 'allow';
    /** The rule that it shows; D11.1 and D11.2 when absent. */
    readonly rule?: string;
    /** Lines that are refused, and that are passed over. */
    readonly faults?: number;
    readonly passed?: number;
    /** What is said of a file that is refused as a whole. */
    readonly refused?: string;
  };
  readonly entries: readonly string[];
}

const folder = temporaryFolder({ after });
const python = spawnSync('python3', [join(import.meta.dirname, 'shapes.py'), folder], { encoding: 'utf8', maxBuffer: 1 << 28 });
const missing = python.error === undefined ? false : 'python3 is missing';
const NONE = { action: 'block', expiresIn: undefined, reason: undefined, labels: {} } as const;

suite('shapes of public lists', { skip: missing }, () => {
  test('D11.1 the shapes are made', () => assert.equal(python.status, 0, python.stderr));
  test('D41.2, D41.3, D41.4, D41.5, D41.6, D41.7, D41.8, D41.9, D41.10, D41.11, D41.12, D41.13, D41.14, D41.15 each of these has shapes', () => {
    for (let part = 2; part <= 15; part += 1) assert.match(python.stdout, new RegExp(`"rule": "[^"]*D41\\.${part}[",]`), `D41.${part}`);
  });
  for (const line of python.stdout?.split('\n').filter(Boolean) ?? []) {
    const { file, options, entries } = JSON.parse(line) as Shape;
    const { paths, where, action = 'block', rule = 'D11.1, D11.2', faults = 0, passed, refused } = options;
    test(`${rule} ${file}: ${refused ?? `${entries.length} entries`}, as Python's ipaddress counts them`, async () => {
      const reading = { file, paths: paths?.map(readPath), condition: where === undefined ? undefined : readCondition(where) };
      const found: string[] = [];
      const told = { faults: [] as string[], passed: [] as string[] };
      const read = async () => {
        const content = await readContent(createReadStream(join(folder, file), { highWaterMark: 777 }), reading, { ...NONE, action });
        assert.ok('entries' in content, 'this is a list');
        for await (const each of content.entries) {
          if ('entry' in each) found.push(formatTarget(each.entry.target));
          else if ('fault' in each) told.faults.push(each.fault);
          else told.passed.push(each.passed);
        }
      };
      if (refused !== undefined) return assert.rejects(read(), { code: 'USAGE', message: new RegExp(refused) });
      await read();
      assert.deepEqual(found.toSorted(), [...entries].sort());
      assert.equal(told.faults.length, faults, told.faults.join('\n'));
      if (passed !== undefined || rule.startsWith('D41')) assert.equal(told.passed.length, passed ?? 0, told.passed.join('\n'));
    });
  }
});
