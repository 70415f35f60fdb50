/** The promise of docs/compatibility.md: the names that programs use stay, or the changelog announces the break. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { commandText } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { readData } from './released/data.ts';
import { type Interface, type Names, readInterface } from './released/interface.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FOLDER = 'test/docs/released';

/** The releases from 0.2.0 to the last one, of earlier ones only the feed. `since`: the changelog since. */
const RELEASES = globSync('*.json', { cwd: join(ROOT, FOLDER) })
  .map((file) => file.replace('.json', ''))
  .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
  .map((version) => {
    const released: Partial<Interface> = JSON.parse(readFileSync(join(ROOT, FOLDER, `${version}.json`), 'utf8'));
    const [since] = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8').split(`\n## ${version} `);
    return { version, released, since: since!, data: join(ROOT, FOLDER, `${version}.tar.gz`) };
  });

/** Statuses may change: a client handles each of a class alike. */
const partsOf = (text: string) => text.split(' ').filter((part) => !/^\d*$/.test(part));

/** Names that existed and do not any more; of settings and metrics also those with another default or type. */
function breaks(before: Partial<Interface>, now: Partial<Interface>): string[] {
  const lost = (old: Names, current: Names) => Object.keys(old).filter((name) => current[name] === undefined);
  const changed = (old: Names, current: Names) =>
    Object.keys(old).filter((name) => current[name] !== undefined && current[name] !== old[name]);
  const missing = (old: Names, current: Names) =>
    changed(old, current).flatMap((name) => {
      const left = new Set(partsOf(current[name]!));
      return partsOf(old[name]!).flatMap((part) => (left.has(part) ? [] : [`${name} ${part}`]));
    });
  const all = <K extends keyof Interface>(kinds: readonly K[], find: (old: Names, current: Names) => string[]) =>
    kinds.flatMap((kind) => (before[kind] === undefined || now[kind] === undefined ? [] : find(before[kind] as Names, now[kind] as Names)));
  return [
    ...all(['operations', 'settings', 'metrics', 'commands', 'json', 'labels'], lost),
    ...all(['settings', 'metrics'], changed),
    ...all(['operations', 'commands', 'json', 'labels'], missing),
  ];
}

test('D49.8 every operation, member, setting, metric, command and option of the last release is there, or its end is announced', async () => {
  const { released, since } = RELEASES.at(-1)!;
  // `POST /v1/x member`, `SETTING`, `command --option`: as in the message, between backticks.
  const unannounced = breaks(released, await readInterface()).filter((name) => !since.includes(`\`${name}\``));
  assert.deepEqual(unannounced, [], 'announce each in CHANGELOG.md under Breaking, between backticks as here (docs/compatibility.md)');
});

for (const { version, released, data, since } of RELEASES)
  test(`D49.8 this weir reads store, messages and export of ${version} with the same feed, and --json members and labels of the last release`, async (t) => {
    const folder = temporaryFolder(t);
    execFileSync('tar', ['-xzf', data, '-C', folder]);
    const dataDir = join(folder, 'data');
    await commandText(['restore', join(folder, 'backup')], { DATA_DIR: dataDir });
    const isOld = released.json === undefined;
    const { feed, ...now } = await readData(folder, dataDir, { exported: join(folder, 'export.ndjson'), isOld });
    assert.equal(feed, released.feed);
    assert.deepEqual(
      breaks(released, now).filter((name) => !since.includes(`\`${name}\``)),
      [],
    );
  });

test('D49.8 a missing name, a missing part and another default are breaks; additions and statuses are not', () => {
  const before: Interface = {
    operations: { 'GET /a': '200 410 id ?limit', 'GET /b': '200' },
    settings: { PORT: '8080', HOST: '' },
    metrics: { weir_a: 'gauge' },
    commands: { 'key ls': '--json --workspace' },
    json: { 'key ls': 'id name' },
    labels: { weir_a: 'route' },
  };
  const now: Interface = {
    operations: { 'GET /a': '200 404 ?limit name' },
    settings: { PORT: '80', NEW: '' },
    metrics: { weir_a: 'counter', weir_b: 'gauge' },
    commands: { 'key ls': '--json --all', 'key show': '--json' },
    json: { 'key ls': 'id' },
    labels: { weir_a: 'path route' },
  };
  assert.deepEqual(breaks(before, before), []);
  assert.deepEqual(breaks(before, now), ['GET /b', 'HOST', 'PORT', 'weir_a', 'GET /a id', 'key ls --workspace', 'key ls name']);
});
