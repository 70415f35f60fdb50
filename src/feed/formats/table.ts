import { trimmedText } from '../trim.ts';
import { renderCsv } from './csv.ts';
import type { FeedFormat } from './format.ts';
import { comment, textFormat } from './text.ts';

/**
 * The feed formats (spec 4.5), in the order in which errors and documents list them. A row is all that there is to a format:
 * queries, the command line, content types and API documents follow from it. Add a vendor's name to `aliases`.
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
} satisfies Readonly<Record<string, FeedFormat>>;

/** A format by its canonical name, as variants, stores and ETags hold it. */
export type Format = keyof typeof ROWS;

export const FORMATS: Readonly<Record<Format, FeedFormat>> = ROWS;

/** The canonical names, as errors and documents list them. */
export const FORMAT_NAMES = Object.keys(FORMATS) as readonly Format[];

/** Every other name of a format, and the format that it names. */
export const FORMAT_ALIASES: ReadonlyMap<string, Format> = new Map(
  FORMAT_NAMES.flatMap((name) => FORMATS[name].aliases.map((alias) => [alias, name] as const)),
);

const NAMED = new Map<string, Format>([...FORMAT_ALIASES, ...FORMAT_NAMES.map((name) => [name, name] as const)]);

/** The format behind a name or alias; undefined for an unknown one. Case-sensitive. */
export const formatOf = (name: string): Format | undefined => NAMED.get(name);
