/** What one pins: one number, wherever a version is written. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import about from '../../package.json' with { type: 'json' };

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const { version } = about;
const pattern = version.replaceAll('.', '\\.');
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

test('D26.5 one version: of the packages, the newest section of the changelog, and the manifests', () => {
  const [newest, ...older] = read('CHANGELOG.md')
    .split(/^## /m)
    .slice(1)
    .filter((section) => !section.startsWith('Unreleased\n'));
  assert.match(newest, new RegExp(`^${pattern} - \\d{4}-\\d\\d-\\d\\d\\n`));
  assert.deepEqual(
    [...newest.matchAll(/^### (.*)$/gm)].map(([, name]) => name).filter((name) => name !== 'Changed'),
    ['Breaking', 'Upgrade', 'Added', 'Fixed'],
  );
  for (const section of older) assert.match(section, /^\d+\.\d+\.\d+(?: - \d{4}-\d\d-\d\d|, never released)\n/);

  const packages = ['package.json', ...globSync('packages/*/package.json', { cwd: ROOT })].map((file) => JSON.parse(read(file)));
  const { packages: locked } = JSON.parse(read('package-lock.json')) as { packages: Record<string, Record<string, unknown>> };
  const ours = Object.entries(locked).filter(([path]) => !path.includes('node_modules'));
  assert.ok(ours.length >= 4);
  for (const one of [...packages, ...ours.map(([, row]) => row)]) {
    assert.equal(one.version, version);
    for (const [name, wanted] of Object.entries(one.dependencies ?? {})) if (name.startsWith('@weir/')) assert.equal(wanted, version, name);
  }
  assert.match(read('Dockerfile'), new RegExp(`^  org\\.opencontainers\\.image\\.version=${pattern} `, 'm'));
  assert.match(read('deploy/kubernetes/kustomization.yaml'), new RegExp(`^ +newTag: ${pattern}$`, 'm'));
});
