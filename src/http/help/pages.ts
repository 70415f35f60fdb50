/** SPEC D18.74. */

import { hash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { movedTo } from '../answer.ts';
import type { Answered, Call } from '../call.ts';
import { type File, fileAnswer, fileOf } from '../files.ts';
import { escaped, type Rendered, render } from './markdown.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const DOCUMENTS = ['README.md', 'SPEC.md', 'CHANGELOG.md', 'SECURITY.md', 'docs/**/*.md', 'spec/*.md'];
const PICTURES = ['docs/images/*.png'];

export const FIRST = 'docs/README.md';

/** Paths from the project's folder; empty without documents. */
function helpFiles(): { readonly root: string; readonly documents: ReadonlySet<string>; readonly pictures: ReadonlySet<string> } {
  const found = (patterns: readonly string[]) => new Set(globSync([...patterns], { cwd: ROOT }).map((path) => path.replaceAll('\\', '/')));
  return { root: ROOT, documents: found(DOCUMENTS), pictures: found(PICTURES) };
}

export const HELP = '/console/help';

interface Page {
  readonly file: File;
  readonly tag: string;
}

/** `files`: address of the console's style sheets. */
export function helpPages(files: string, headers: readonly string[]): (call: Call) => Answered {
  const { root, documents, pictures } = helpFiles();
  const made = new Map<string, Page>();
  const make = (path: string): Page => {
    const bytes = readFileSync(join(root, path));
    const isPicture = pictures.has(path);
    const type = isPicture ? 'image/png' : 'text/html; charset=utf-8';
    const content = isPicture ? bytes : Buffer.from(pageOf(render(bytes.toString(), resolver(path, documents, pictures)), files));
    return { file: fileOf(type, content), tag: `"${hash('sha256', content, 'hex').slice(0, 16)}"` };
  };
  return (call) => {
    const path = call.params['*']!;
    if (path === '' && documents.has(FIRST)) return movedTo(`${HELP}/${FIRST}`);
    if (!documents.has(path) && !pictures.has(path)) return { status: 404 };
    let page = made.get(path);
    if (page === undefined) {
      page = make(path);
      made.set(path, page);
    }
    const all = [...headers, 'ETag', page.tag];
    if (call.request.headers['if-none-match'] === page.tag) return { status: 304, headers: all, body: undefined };
    return fileAnswer(call, page.file, all);
  };
}

/** Resolves links between served documents only. */
function resolver(path: string, documents: ReadonlySet<string>, pictures: ReadonlySet<string>): (href: string) => string | undefined {
  return (href) => {
    const { pathname, hash: anchor } = new URL(href, `file:///${path}`);
    const target = pathname.slice(1);
    return documents.has(target) || pictures.has(target) ? `${HELP}/${target}${anchor}` : undefined;
  };
}

const pageOf = ({ title, parts, html }: Rendered, files: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)} · weir</title>
<link rel="icon" href="${files}/weir.svg" type="image/svg+xml">
<link rel="stylesheet" href="${files}/styles.css">
<link rel="stylesheet" href="${files}/help/help.css">
<script src="${files}/opening/theme.js"></script>
</head>
<body class="help">
<header><nav aria-label="Help"><a href="/console/">Console</a> <a href="${HELP}/${FIRST}">All documents</a></nav></header>
<main>
${html}</main>
${parts.length > 1 ? `<nav class="help-parts" aria-label="On this page"><ul>${parts.map(({ id, text }) => `<li><a href="#${escaped(id)}">${escaped(text)}</a></li>`).join('')}</ul></nav>` : ''}
</body>
</html>
`;
