// SHA256SUMS of all files, and signatures that every host with OpenSSH can verify.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathsIn, run } from './files.mjs';

/** Names what a signature is for: one made for another purpose is refused. */
const NAMESPACE = 'weir-release';

export function checksums(out) {
  const sums = [...pathsIn(out)]
    .filter(({ entry }) => entry.isFile())
    .map(
      ({ path }) =>
        `${createHash('sha256')
          .update(readFileSync(join(out, path)))
          .digest('hex')}  ${path}\n`,
    );
  writeFileSync(join(out, 'SHA256SUMS'), sums.join(''));
}

/** SSHSIG of SHA256SUMS, and so of all files. */
export const sign = (out, key) => void run('ssh-keygen', '-q', '-Y', 'sign', '-n', NAMESPACE, '-f', key, join(out, 'SHA256SUMS'));
