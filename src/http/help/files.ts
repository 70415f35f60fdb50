/** Which documents of the project the service shows, by their paths in it (SPEC D18.74). */
import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const DOCUMENTS = ['README.md', 'SPEC.md', 'CHANGELOG.md', 'SECURITY.md', 'docs/**/*.md', 'spec/*.md'];
const PICTURES = ['docs/images/*.png'];

/** Where the help begins. */
export const FIRST = 'docs/README.md';

/** The files that are shown, as paths from the project's folder. An installation without documents has none. */
export function helpFiles(): { readonly root: string; readonly documents: ReadonlySet<string>; readonly pictures: ReadonlySet<string> } {
  const found = (patterns: readonly string[]) => new Set(globSync([...patterns], { cwd: ROOT }).map((path) => path.replaceAll('\\', '/')));
  return { root: ROOT, documents: found(DOCUMENTS), pictures: found(PICTURES) };
}
