// usr/share/doc/weir/copyright: the licence of weir, and of everything in its package.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const LICENCE = /^(?:licen[cs]e|copying|notice)/i;
/** Licences of packages that name one without its text; the text is that of another package in the tree. */
const line = (text) => text.trim().replace(/\r/g, '');

export function copyrightOf(root, packages) {
  const parts = [
    `weir, https://localhost/weir\n\n${line(readFileSync(join(root, 'NOTICE'), 'utf8'))}`,
    line(readFileSync(join(root, 'LICENSE'), 'utf8')),
    'On Debian systems, the complete text of the Apache License 2.0 is also in /usr/share/common-licenses/Apache-2.0.\n\nThe package contains the following works.',
  ];
  for (const { path, name, version, license, author, repository, homepage } of packages) {
    const folder = join(root, path);
    const texts = readdirSync(folder)
      .filter((each) => LICENCE.test(each))
      .sort();
    const from = typeof repository === 'string' ? repository : (repository?.url ?? homepage ?? '');
    const by = typeof author === 'string' ? author : (author?.name ?? '');
    parts.push(
      [
        `${name} ${version}`,
        `License: ${license}`,
        ...(by === '' ? [] : [`Author: ${by}`]),
        ...(from === '' ? [] : [`Source: ${from}`]),
        ...texts.map((each) => `\n${line(readFileSync(join(folder, each), 'utf8'))}`),
        ...(texts.length === 0 ? ['\nThe package has no text of its licence.'] : []),
      ].join('\n'),
    );
  }
  return `${parts.join(`\n\n${'-'.repeat(78)}\n\n`)}\n`;
}
