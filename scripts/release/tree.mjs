// weir as it runs: the files of a commit as in the image (.dockerignore), with packages and Node for one architecture.
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { normalize, pathsIn, put, run, runIn, tarball } from './files.mjs';

/** Debian's names, and those of npm. */
export const ARCHITECTURES = { amd64: 'x64', arm64: 'arm64' };

/** Needed by compilers and people, not by weir; the CSV files with numbers are the same data again. */
const NEEDLESS = [
  /^node_modules\/node-linux-\w+\/(?:include|share|.*\.md)$/,
  /^node_modules\/.*(?:\.d\.[cm]?ts|\.map|-num\.csv)$/,
  /^node_modules\/(?:@[^/]+\/)?[^/]+\/(?:tests?|docs?|spec|examples?|bench(?:mark)?s?|index\.html)$/,
  /^node_modules\/(?:\.bin\/(?!node$).*|\.package-lock\.json|.*\/\.[^/]*)$/,
];

/** Paths of the image, and others of the same commit. */
function unpack({ commit }, folder, others) {
  const lines = run('git', 'show', `${commit}:.dockerignore`).split('\n').filter(Boolean);
  const paths = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
  const excluded = lines.filter((line) => !/^[!*]/.test(line)).map((line) => `:(exclude,glob)${line}`);
  // A pattern for a folder excludes all below it.
  const below = excluded.map((line) => `${line}/**`);
  mkdirSync(folder, { recursive: true });
  const tar = `${folder}.tar`;
  run('git', 'archive', '--format=tar', '-o', tar, commit, '--', ...paths, ...others, ...excluded, ...below);
  run('tar', '-xf', tar, '-C', folder);
  rmSync(tar);
}

/** Installs what package-lock.json names, checked by npm with its integrity. */
export function treeOf(release, arch, folder) {
  const root = join(folder, 'weir');
  unpack(release, root, []);
  const machine = ['--os=linux', `--cpu=${ARCHITECTURES[arch]}`, '--libc=glibc'];
  runIn(root, 'npm', 'ci', '--omit=dev', ...machine, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error');
  for (const { path } of [...pathsIn(root)])
    if (NEEDLESS.some((pattern) => pattern.test(path))) rmSync(join(root, path), { recursive: true, force: true });
  normalize(root, release.epoch);
  return { arch, root, folder };
}

/** Every package in the tree: its folder, name, version and licence. */
export function* packagesOf(root, folder = 'node_modules') {
  for (const name of readdirSync(join(root, folder)).filter((each) => !each.startsWith('.'))) {
    const path = join(folder, name);
    if (name.startsWith('@')) yield* packagesOf(root, path);
    else if (!path.startsWith('node_modules/@weir/')) yield { path, ...JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8')) };
  }
}

/** Without the time and the random number that npm adds. */
export function sbomOf({ root }) {
  const bom = JSON.parse(runIn(root, 'npm', 'sbom', '--package-lock-only', '--omit=dev', '--sbom-format=cyclonedx'));
  delete bom.serialNumber;
  delete bom.metadata.timestamp;
  return `${JSON.stringify(bom, null, 2)}\n`;
}

/** Everything in one folder for hosts without dpkg, the source, and the context of the image. */
export function archiveOf(release, { arch, root, folder }, out) {
  const { commit, version, epoch } = release;
  const name = `weir-${version}-linux-${arch}`;
  put(root, 'bin/weir', launcherOf(release, 'tarball'), 0o755);
  normalize(join(root, 'bin'), epoch);
  runIn(folder, 'mv', 'weir', name);
  tarball(join(out, `${name}.tar.gz`), epoch, folder, [name]);
  runIn(folder, 'mv', name, 'weir');
  if (arch !== 'amd64') return;
  const context = join(folder, 'context');
  unpack(release, context, ['Dockerfile', '.dockerignore', 'compose.yaml']);
  normalize(context, epoch);
  tarball(join(out, `weir-${version}-image.tar.gz`), epoch, context, readdirSync(context).sort());
  const source = join(folder, `weir-${version}`);
  mkdirSync(source);
  run('git', 'archive', '--format=tar', '-o', `${source}.tar`, commit);
  run('tar', '-xf', `${source}.tar`, '-C', source);
  normalize(source, epoch);
  tarball(join(out, `weir-${version}.tar.gz`), epoch, folder, [`weir-${version}`]);
}

/** `weir`: a shell script in the package, another in the archive. */
export const launcherOf = ({ commit }, kind) =>
  readFileSync(new URL(`package/weir.${kind}`, import.meta.url), 'utf8').replaceAll('@COMMIT@', commit.slice(0, 12));

/** What `weir upgrade --check` reads (spec/release.md). */
export function releaseFacts({ commit, version, epoch }, { root }, packages) {
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8').split(/^## /m).slice(1);
  const changes = changelog.map((section) => {
    const [title] = section.split(/[ ,\n]/, 1);
    const text =
      /^### Breaking\n([\s\S]*?)(?=^### |$(?![\s\S]))/m.exec(section)?.[1] ??
      /^Check these before you upgrade:\n([\s\S]*?)(?=^### )/m.exec(section)?.[1] ??
      '';
    // A table of words is too long to list.
    const names = text.replace(/^\| before [\s\S]*?\n(?!\|)/gm, '');
    const rows = [...names.matchAll(/^\| (?!where)(.*) \|$/gm)].map(([, cells]) => cells);
    const items = text
      .split(/^- /m)
      .slice(1)
      .map((item) => item.split('\n\n')[0].replace(/\s+/g, ' ').trim());
    return { version: title === 'Unreleased' ? version : title, breaking: [...items, ...rows] };
  });
  const migrations = (dialect) =>
    ['', 'from-064', dialect]
      .flatMap((folder) => readdirSync(join(root, 'src/store/migrations', folder)))
      .filter((name) => name.endsWith('.sql'))
      .sort();
  const facts = {
    weir_release: 1,
    version,
    commit,
    date: new Date(epoch * 1000).toISOString().slice(0, 10),
    migrations: { sqlite: migrations('sqlite'), postgres: migrations('postgres') },
    packages: packages.map(({ file, architecture, bytes, installedBytes }) => ({
      file,
      architecture,
      bytes,
      installed_bytes: installedBytes,
    })),
    changes,
  };
  return `${JSON.stringify(facts, null, 2)}\n`;
}
