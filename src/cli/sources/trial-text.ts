import type { TryReport } from '../../source/try-source.ts';
import { countText } from '../../text/count.ts';
import { printable, table } from '../context.ts';

/** Printed rows of each kind. */
const SHOWN = 10;

export function trialText({ name, url, purpose, fault, content, trial }: TryReport): string {
  const head = `${printable(name)}, for ${purpose}: ${printable(url)}`;
  if (content === null || trial === null) return `${head}\n\nit cannot be used: ${printable(String(fault))}`;
  return [head, contentText(content), ...trialTexts(trial)].join('\n\n');
}

type Content = NonNullable<TryReport['content']>;
type Trial = NonNullable<TryReport['trial']>;

function contentText(content: Content): string {
  const { faults, refused, passed } = content;
  const kinds = (
    [
      ['IPv4', content.v4],
      ['IPv6', content.v6],
      ['countries', content.countries],
      ['ASNs', content.asns],
    ] as const
  ).filter(([, count]) => count > 0);
  const parts = kinds.map(([kind, count]) => `${countText(count)} ${kind}`).join(', ');
  const widest = [content.widest_v4, content.widest_v6].filter((each) => each !== null);
  const lines: readonly (readonly [string, string | false])[] = [
    ['entries', `${countText(content.entries)}${parts === '' ? '' : ` (${parts})`}`],
    ['addresses', content.addresses_v4 > 0 && `${countText(content.addresses_v4)} IPv4`],
    ['widest', widest.length > 0 && widest.join(', ')],
    ['of', content.last_modified ?? 'its server does not say when'],
    ['whole', wholeText(content)],
    ['twice', content.doubled > 0 && countText(content.doubled)],
    ['expired', content.expired > 0 && countText(content.expired)],
    ...Object.entries(passed).map(([reason, count]) => ['passed over', `${countText(count)}: ${printable(reason)}`] as const),
    ...content.warnings.map((text) => ['warning', printable(text)] as const),
    ...toldLines('not readable', faults),
    ...toldLines('refused', refused),
    ['protected', content.protected.length > 0 && content.protected.join(', ')],
  ];
  return lines.flatMap(([what, text]) => (text === false ? [] : [`${what.padEnd(12)}  ${text}`])).join('\n');
}

const wholeText = ({ whole, said_entries: said }: Content): string =>
  said === null ? WHOLE[whole] : `yes, it announces ${countText(said)}`;
const WHOLE = { said: 'yes', last_line: 'its last line is', not_known: 'its last line has no end: it may be cut' } as const;

const toldLines = (what: string, { count, first }: Content['faults']) =>
  count === 0
    ? []
    : [
        [what, countText(count)] as const,
        ...first.slice(0, SHOWN).map(({ place, message }) => ['', `${place}: ${printable(message)}`] as const),
      ];

function trialTexts({ present, added, removed, overlaps, never_block: never, feeds, left_out: leftOut, holds }: Trial): string[] {
  const change =
    present === 0
      ? []
      : [`against the ${countText(present)} that its list has: ${countText(added)} would be added, ${countText(removed)} removed`];
  const neverLines = never.first.slice(0, SHOWN).map(({ list, value }) => `  ${value} (list ${printable(list)})`);
  const nevers = never.count === 0 ? [] : [[`${countText(never.count)} never-block rules have addresses of it:`, ...neverLines].join('\n')];
  const overlapRows = overlaps.slice(0, SHOWN).map((row) => [printable(row.name), KINDS[row.kind], row.entries, row.addresses_v4]);
  const common =
    overlaps.length === 0
      ? ['no list and no feed blocks any of it']
      : [table(['IN COMMON WITH', '', 'ENTRIES', 'IPV4 ADDRESSES'], overlapRows, (row) => row)];
  const feedRows = feeds.map((row) => [
    printable(row.name),
    `${KINDS[row.kind]}, ${row.action}`,
    row.entries_before,
    row.entries_after,
    row.entry_limit,
    row.left_out !== null ? printable(`would leave out ${row.left_out}`) : row.fits ? 'fits' : 'DOES NOT FIT: polls would be answered 413',
  ]);
  return [
    ...change,
    ...nevers,
    ...common,
    table(['FEED', '', 'HAS', 'WOULD HAVE', 'AT MOST', ''], feedRows, (row) => row),
    ...(leftOut === 0 ? [] : [`there was no time for ${leftOut} lists and feeds`]),
    ...(holds.length === 0 ? [] : [['such a refresh would be put on hold:', ...holds.map((each) => `  ${printable(each)}`)].join('\n')]),
  ];
}

const KINDS = { workspace: 'workspace', list: 'list', composed: 'feed' } as const;
