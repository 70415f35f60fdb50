/** What one pins: one number, wherever a version is written. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import about from '../../package.json' with { type: 'json' };
import { temporaryFolder } from '../support/folder.ts';
import { needs } from '../support/programs.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const { version } = about;
const pattern = version.replaceAll('.', '\\.');
// Scripts have no types.
const script = (name: string) => import(join(ROOT, 'scripts/release', `${name}.mjs`));
const [{ normalize, tarball }, { checksums, sign }, { releaseFacts }, { PLACES }] = await Promise.all(
  ['files', 'sign', 'tree', 'version'].map(script),
);
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

test('D26.5, D49.12 one version: of the packages, the newest section of the changelog, and the manifests', () => {
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

  for (const [file, versions] of PLACES as [string, RegExp][]) {
    const found = new Set(read(file).match(versions));
    assert.deepEqual([...found], [version], `${file}: run npm run set-version`);
  }
});

test('D49.1 an archive of equal content has equal bytes, whatever the times and the umask', (t) => {
  const [one, two] = [0o644, 0o660].map((mode, i) => {
    const folder = temporaryFolder(t);
    mkdirSync(join(folder, 'a/b'), { recursive: true });
    for (const name of i === 0 ? ['a/x', 'a/b/y'] : ['a/b/y', 'a/x']) writeFileSync(join(folder, name), 'content', { mode });
    normalize(folder, 1_700_000_000);
    tarball(join(folder, 'all.tar.gz'), 1_700_000_000, folder, ['a']);
    return readFileSync(join(folder, 'all.tar.gz'));
  });
  assert.deepEqual(one, two);
});

test('D49.1 OpenSSH verifies the checksums of a release, and refuses others', { skip: needs('ssh-keygen') }, (t) => {
  const [out, keys] = [temporaryFolder(t), temporaryFolder(t)];
  const key = join(keys, 'key');
  assert.equal(spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]).status, 0);
  writeFileSync(join(out, 'weir.deb'), 'content');
  checksums(out);
  sign(out, key);
  const sums = readFileSync(join(out, 'SHA256SUMS'), 'utf8');
  assert.match(sums, /^ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73 {2}weir\.deb\n$/);
  const allowed = join(keys, 'allowed_signers');
  writeFileSync(allowed, `releases@example.com namespaces="weir-release" ${readFileSync(`${key}.pub`, 'utf8')}`);
  const verify = (input: string, namespace: string) => {
    const args = ['-Y', 'verify', '-f', allowed, '-I', 'releases@example.com', '-n', namespace, '-s', join(out, 'SHA256SUMS.sig')];
    return spawnSync('ssh-keygen', args, { input }).status;
  };
  assert.equal(verify(sums, 'weir-release'), 0);
  assert.notEqual(verify(`${sums}x`, 'weir-release'), 0);
  assert.notEqual(verify(sums, 'file'), 0);
});

test('D49.5 release.json has the breaking changes of each version, and the migrations of each engine', () => {
  const facts = JSON.parse(releaseFacts({ commit: 'c', version: '9.9.9', epoch: 0 }, { root: ROOT }, []));
  const [second] = facts.changes.filter(({ version }: { version: string }) => version === '0.2.0');
  assert.ok(second.breaking.length > 10);
  for (const item of second.breaking) assert.match(item, /^\S[^\n]*\S$/);
  const all: string[] = facts.changes.flatMap(({ breaking }: { breaking: string[] }) => breaking);
  assert.ok(!all.some((item) => item.includes('pull, stopped pulling')));
  assert.ok(second.breaking.some((item: string) => item.startsWith('command | `weir explain`')));
  for (const engine of ['sqlite', 'postgres']) assert.equal(facts.migrations[engine][0], '030-consensus.sql');
});
