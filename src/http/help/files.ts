/** SPEC D18.74. */
import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const DOCUMENTS = ['README.md', 'SPEC.md', 'CHANGELOG.md', 'SECURITY.md', 'docs/**/*.md', 'spec/*.md'];
const PICTURES = ['docs/images/*.png'];

export const FIRST = 'docs/README.md';

/** Paths from the project's folder. Empty if the installation has no documents. */
export function helpFiles(): { readonly root: string; readonly documents: ReadonlySet<string>; readonly pictures: ReadonlySet<string> } {
  const found = (patterns: readonly string[]) => new Set(globSync([...patterns], { cwd: ROOT }).map((path) => path.replaceAll('\\', '/')));
  return { root: ROOT, documents: found(DOCUMENTS), pictures: found(PICTURES) };
}
