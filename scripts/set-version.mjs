// `npm run set-version VERSION`: writes the version wherever it is named, dates the unreleased section of the changelog, and adds the names
// and data of this version to test/docs/released, which later versions are compared with. Repeatable, for example after another commit.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { PLACES } from './release/version.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const [version = ''] = process.argv.slice(2);

function main() {
  if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Error(`VERSION must be three numbers, such as 1.2.3, not "${version}"`);
  const today = new Date().toISOString().slice(0, 10);
  for (const [file, pattern, replacement = version] of [...PLACES, ['CHANGELOG.md', /^## Unreleased$/m, `## ${version} - ${today}`]])
    writeFileSync(root + file, readFileSync(root + file, 'utf8').replace(pattern, replacement));
  execFileSync(process.execPath, ['test/docs/released/data.ts'], { cwd: root, stdio: 'inherit' });
}

main();
