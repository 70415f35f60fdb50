import { trimmedText } from '../trim.ts';
import { renderCsv } from './csv.ts';
import type { FeedFormat } from './format.ts';
import { renderMikrotik } from './mikrotik.ts';
import { comment, textFormat } from './text.ts';

/**
 * The feed formats (spec 4.5), in the order of errors and documents. Queries, commands, content types and API documents derive from these
 * rows. Vendors' names belong in `aliases`.
 */
const ROWS = {
  plain: {
    aliases: ['txt', 'paloalto', 'panos', 'fortigate', 'fortinet'],
    mediaType: 'text/plain',
    rated: false,
    mayBeBare: true,
    description: 'one network a line, always with its prefix length',
    render: textFormat({ head: '', separator: '\n', tail: '\n' }),
  },

  commented: {
    aliases: [],
    mediaType: 'text/plain',
    rated: false,
    mayBeBare: true,
    description: 'six header lines, also when no network matches, and one more where something is left out; then as `plain`',
    render: textFormat({
      header: ({ name, description, action, family, leftOut }, count) => ({
        before: `${comment(name)}\n${comment(description ?? '')}\n# action: ${action}\n# family: ${family}\n# generated: `,
        after: `\n# entries: ${count}\n${leftOut === undefined ? '' : `${comment(`left out: ${trimmedText(leftOut)}`)}\n`}`,
      }),
      head: '',
      separator: '\n',
      tail: '\n',
    }),
  },

  csv_indicator: {
    aliases: [],
    mediaType: 'text/csv',
    rated: true,
    description: 'rows `value,type,confidence,severity`, no header row',
    render: renderCsv,
  },

  set_elements: {
    aliases: [],
    mediaType: 'text/plain',
    rated: false,
    description: 'one line `elements = { …, … }` for nftables, which refuses an empty set of elements and takes an empty file',
    render: textFormat({ head: 'elements = { ', separator: ', ', tail: ' }\n' }),
  },

  mikrotik: {
    aliases: ['routeros', 'rsc'],
    isScript: true,
    mediaType: 'text/plain',
    rated: false,
    description: 'a script for `/import` of MikroTik RouterOS 7, which fills one of two address lists and then empties the other',
    render: renderMikrotik,
  },
} satisfies Readonly<Record<string, FeedFormat>>;

export type Format = keyof typeof ROWS;

export const FORMATS: Readonly<Record<Format, FeedFormat>> = ROWS;

export const FORMAT_NAMES = Object.keys(FORMATS) as readonly Format[];

/** Formats that are lists of networks: those that a 400 names (spec 7.3). */
export const LIST_FORMATS = FORMAT_NAMES.filter((name) => !FORMATS[name].isScript);

export const FORMAT_ALIASES: ReadonlyMap<string, Format> = new Map(
  FORMAT_NAMES.flatMap((name) => FORMATS[name].aliases.map((alias) => [alias, name] as const)),
);

const NAMED = new Map<string, Format>([...FORMAT_ALIASES, ...FORMAT_NAMES.map((name) => [name, name] as const)]);

/** Case-sensitive. */
export const formatOf = (name: string): Format | undefined => NAMED.get(name);
