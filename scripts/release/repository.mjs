// An apt repository as a folder of static files: any web server, or file://, serves it.

import { createHash } from 'node:crypto';
import { copyFileSync, linkSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { run } from './files.mjs';

const HASHES = [
  ['MD5Sum', 'md5'],
  ['SHA256', 'sha256'],
];
const hash = (kind, bytes) => createHash(kind).update(bytes).digest('hex');

/** `gpgKey` undefined: the repository is unsigned, and apt needs `[trusted=yes]`. */
export function repository({ version, epoch }, packages, out, gpgKey) {
  const folder = join(out, 'apt');
  mkdirSync(folder, { recursive: true });
  const stanzas = packages.sort().map((file) => {
    linkSync(join(out, file), join(folder, file));
    const bytes = readFileSync(join(out, file));
    const sums = HASHES.map(([name, kind]) => `${name.replace('MD5Sum', 'MD5sum')}: ${hash(kind, bytes)}`);
    return [run('dpkg-deb', '-f', join(out, file)).trimEnd(), `Filename: ./${file}`, `Size: ${bytes.length}`, ...sums, ''].join('\n');
  });
  const index = Buffer.from(stanzas.join('\n'));
  const files = { Packages: index, 'Packages.gz': gzipSync(index, { level: 9 }) };
  for (const [name, bytes] of Object.entries(files)) writeFileSync(join(folder, name), bytes);
  const date = run('date', '-u', '-R', `-d@${epoch}`).trim().replace('+0000', 'UTC');
  const lines = [
    'Origin: weir',
    'Label: weir',
    'Suite: stable',
    `Version: ${version}`,
    `Date: ${date}`,
    'Architectures: all amd64 arm64',
    'Description: weir, security signals in, threat feeds out',
    ...HASHES.flatMap(([name, kind]) => [
      `${name}:`,
      ...Object.entries(files).map(([file, bytes]) => ` ${hash(kind, bytes)} ${bytes.length} ${file}`),
    ]),
  ];
  const release = join(folder, 'Release');
  writeFileSync(release, `${lines.join('\n')}\n`);
  copyFileSync(join(out, 'release.json'), join(folder, 'release.json'));
  if (gpgKey === undefined) {
    process.stderr.write('release: the apt repository is not signed: no --gpg-key was given\n');
    return;
  }
  const gpg = ['--batch', '--yes', '--local-user', gpgKey];
  run('gpg', ...gpg, '--armor', '--detach-sign', '--output', `${release}.gpg`, release);
  run('gpg', ...gpg, '--clearsign', '--output', join(folder, 'InRelease'), release);
}
