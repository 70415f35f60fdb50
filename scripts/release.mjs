// `npm run release -- [VERSION] [--commit C] [--out FOLDER] [--sign-key FILE] [--gpg-key ID] [--maintainer 'NAME <MAIL>']
// [--arch amd64] [--packages]`: the files of a release (SPEC D49.1), or only its packages. The same commit, VERSION and maintainer make
// the same bytes. VERSION is that of package.json, or that with a suffix such as `+1`. Needs git, npm 10.2 or newer, GNU tar, dpkg-deb
// and xz; to sign also ssh-keygen and gpg.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { geoPackage, weirPackage } from './release/debian.mjs';
import { run } from './release/files.mjs';
import { repository } from './release/repository.mjs';
import { checksums, sign } from './release/sign.mjs';
import { ARCHITECTURES, archiveOf, releaseFacts, sbomOf, treeOf } from './release/tree.mjs';

const text = { type: 'string' };
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    commit: { ...text, default: 'HEAD' },
    out: { ...text, default: 'release' },
    arch: { ...text, multiple: true, default: Object.keys(ARCHITECTURES) },
    packages: { type: 'boolean', default: false },
    'sign-key': text,
    'gpg-key': text,
    maintainer: { ...text, default: 'weir packages <weir@example.com>' },
  },
});

/** What all parts are made from. */
function subject() {
  const commit = run('git', 'rev-parse', `${values.commit}^{commit}`).trim();
  const about = JSON.parse(run('git', 'show', `${commit}:package.json`));
  const version = positionals[0] ?? about.version;
  if (version !== about.version && !new RegExp(`^${about.version.replaceAll('.', '\\.')}[+~][a-z0-9.+~]+$`).test(version))
    throw new Error(`the commit is version ${about.version}: VERSION must be that, or that with a suffix such as +1, not ${version}`);
  const wrong = values.arch.filter((arch) => ARCHITECTURES[arch] === undefined);
  if (wrong.length > 0) throw new Error(`--arch must be one of: ${Object.keys(ARCHITECTURES).join(', ')}`);
  if (!/^[^<>\n]+ <[^<>@\s]+@[^<>@\s]+>$/.test(values.maintainer))
    throw new Error(`--maintainer must be 'NAME <MAIL>', not ${values.maintainer}`);
  return { commit, version, maintainer: values.maintainer, epoch: Number(run('git', 'show', '-s', '--format=%ct', commit)) };
}

function main() {
  process.umask(0o022);
  const release = subject();
  const out = resolve(values.out);
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const work = mkdtempSync(join(tmpdir(), 'weir-release-'));
  try {
    const trees = values.arch.map((arch) => treeOf(release, arch, join(work, arch)));
    const geo = geoPackage(release, trees[0], join(work, 'geo'), out);
    const packages = trees.map((tree) => weirPackage(release, tree, geo, join(work, `${tree.arch}.deb`), out));
    for (const tree of values.packages ? [] : trees) archiveOf(release, tree, out);
    writeFileSync(join(out, `weir-${release.version}.cdx.json`), sbomOf(trees[0]));
    writeFileSync(join(out, 'release.json'), releaseFacts(release, trees[0], [...packages, geo]));
    repository(
      release,
      [...packages, geo].map(({ file }) => file),
      out,
      values['gpg-key'],
    );
    checksums(out);
    if (values['sign-key'] !== undefined) sign(out, values['sign-key']);
    process.stdout.write(readFileSync(join(out, 'SHA256SUMS'), 'utf8'));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

main();
