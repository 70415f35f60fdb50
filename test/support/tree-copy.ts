/** Copies of the project in which a test may change files. */

import { cpSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Copies these files and folders of the project, and its own packages; what is installed is linked. */
export function copyTree(copy: string, parts: readonly string[]): void {
  for (const part of ['package.json', 'packages', ...parts]) cpSync(join(ROOT, part), join(copy, part), { recursive: true });
  const [from, to] = [join(ROOT, 'node_modules'), join(copy, 'node_modules')];
  mkdirSync(join(to, '@weir'), { recursive: true });
  for (const name of readdirSync(from)) if (name !== '@weir') symlinkSync(join(from, name), join(to, name));
  for (const name of readdirSync(join(copy, 'packages'))) symlinkSync(join('../../packages', name), join(to, '@weir', name));
}
