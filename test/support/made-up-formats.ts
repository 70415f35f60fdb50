/** Two made-up feed formats: one is a row of the table, the other a row and its renderer. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const TABLE = 'src/feed/formats/table.ts';
const END_OF_TABLE = '} satisfies Readonly<Record<string, FeedFormat>>;';
/** Own header line with the instant, own layout, own content type, two aliases. */
const ROW = `
  acme_wall: {
    aliases: ['acme', 'acme-9000'],
    mediaType: 'application/x-acme',
    rated: false,
    description: 'a line that begins with a semicolon, then the networks on one line',
    render: textFormat({
      header: ({ name, action, family }, count) => ({
        before: \`;\${comment(name)} \${action} \${family}, \${count} networks of \`,
        after: ' UTC\\n',
      }),
      head: '< ',
      separator: ' | ',
      tail: ' >\\n',
    }),
  },
`;
/** Another with a renderer of its own: rows with levels below a header line that shows the instant. Two files, and no more. */
const OWN_ROW = `
  acme_csv: {
    aliases: [],
    mediaType: 'text/csv',
    rated: true,
    description: 'rows as of csv_indicator below a header line',
    render: renderAcme,
  },
`;
const OWN_RENDERER = `
import { renderCsv } from './csv.ts';
import { headed } from './text.ts';

export const renderAcme = headed((_, count) => ({ before: \`value,type,confidence,severity,\${count},\`, after: '\\n' }), renderCsv);
`;

/** Adds them to a copy of the tree. */
export function addFormats(copy: string): void {
  const table = readFileSync(join(copy, TABLE), 'utf8');
  assert.equal(table.split(END_OF_TABLE).length, 2);
  const rows = table.replace(END_OF_TABLE, () => `${ROW}${OWN_ROW}${END_OF_TABLE}`);
  writeFileSync(join(copy, TABLE), `import { renderAcme } from './acme.ts';\n${rows}`);
  writeFileSync(join(copy, 'src/feed/formats/acme.ts'), OWN_RENDERER);
}
