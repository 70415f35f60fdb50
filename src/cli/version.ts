import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import about from '../../package.json' with { type: 'json' };

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

export const VERSION = about.version;

/** With the commit, if known: from the image, else from the clone (SPEC D26.1). */
export function versionOf({ WEIR_COMMIT }: Readonly<Record<string, string | undefined>>): string {
  const commit = WEIR_COMMIT || checkedOut();
  return commit === undefined ? about.version : `${about.version} (${commit})`;
}

function checkedOut(): string | undefined {
  if (!existsSync(`${ROOT}.git`)) return undefined;
  try {
    return execFileSync('git', ['-C', ROOT, 'rev-parse', '--short=12', 'HEAD'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return undefined;
  }
}
