/** `weir worth` (SPEC D30). */
import type { ListOverlapJson, OverlapJson } from '../../manage/overlap.ts';
import { countText } from '../../text/count.ts';
import { printable, table } from '../context.ts';
import { type AnyRow, row } from '../rows/row.ts';

export const WORTH_ROWS: readonly AnyRow[] = [
  row<OverlapJson | ListOverlapJson>({
    words: 'worth [list]',
    operation: 'listWorth',
    summary: 'compare lists: unique entries, overlap, entries listed before they were detected; of one list also its cost',
    run: ({ client, given }) => (given.list === undefined ? client.call('worth') : client.call('listWorth', given)),
    show: (found) => ('lists' in found ? worthText(found) : listText(found)),
  }),
];

/** Printed rows. */
const SHOWN = 10;

type List = OverlapJson['lists'][number];

function worthText({ lists, detections, dropped, lists_left_out: leftOut }: OverlapJson): string {
  const cells = (list: List) => [...worthCells(list), dropped.hits === 0 ? null : list.hits];
  const rows = lists.map((list) => [printable(list.name), list.entries, list.added, list.gone, ...cells(list), mostShared(list)]);
  const idle = lists.filter((list) => list.idle).map(({ name }) => printable(name));
  return [
    table(
      ['LIST', 'ENTRIES', 'NEW', 'REMOVED', 'UNIQUE', 'BEFORE', 'EARLIER BY', 'AFTER', 'NEVER', 'HITS', 'SHARES MOST WITH'],
      rows,
      (row) => row,
    ),
    detectedText(detections),
    ...droppedText(dropped),
    ...(idle.length === 0
      ? []
      : [`without a detection${dropped.hits === 0 ? '' : ' or a hit'} in ${detections.days} days: ${idle.join(', ')}`]),
    ...lists.flatMap(copyLines),
    ...(leftOut === 0 ? [] : [`${leftOut} lists are not shown`]),
  ].join('\n');
}

const worthCells = ({ unique, detections: { before, after, never, lead_seconds: lead } }: List) => [
  unique.entries,
  before,
  lead === null ? null : durationText(lead),
  after,
  never,
];

const hitsText = ({ hits, last_hit: last }: List) => `${countText(hits)} in 30 days${last === null ? '' : `, the last on ${last}`}`;

const detectedText = ({ count, days, first }: OverlapJson['detections']) =>
  `own detections of the last ${days} days that are still known: ${countText(count)}${first === null ? '' : `, the oldest from ${first}`}`;

/** Empty if no bouncer counts. */
const droppedText = ({ days, hits, of_no_list: other }: OverlapJson['dropped']) =>
  hits === 0 ? [] : [`dropped in ${days} days, as reported by bouncers: ${countText(hits)}, ${countText(other)} of them for no list`];

const mostShared = ({ overlaps: [most] }: List) => most && `${printable(most.name)} (${countText(most.entries)})`;

const copyLines = ({ name, entries, copies }: List) =>
  copies.map(
    (each) =>
      `${printable(name)} copies ${printable(each.name)}: ${countText(each.entries)} of its ${countText(entries)} entries are in both`,
  );

function durationText(seconds: number): string {
  const [unit, size] = UNITS.find(([, each]) => seconds >= 2 * each) ?? ['s', 1];
  return `${Math.round(seconds / size)} ${unit}`;
}
const UNITS = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
] as const;

function listText(list: ListOverlapJson): string {
  const { unique, detections, days, never_block: never, feeds } = list;
  const sum = (field: 'added' | 'expired' | 'removed') => days.reduce((all, day) => all + day[field], 0);
  const lines: readonly (readonly [string, string | false])[] = [
    ['entries', `${countText(list.entries)}; ${countText(list.added)} added and ${countText(list.gone)} removed in the last day`],
    ['30 days', `${countText(sum('added'))} added, ${countText(sum('expired'))} expired, ${countText(sum('removed'))} removed`],
    ['only here', `${countText(unique.entries)} entries, ${countText(unique.addresses_v4)} IPv4 addresses`],
    [
      'detections',
      `${countText(detections.before)} of ${countText(detections.of)} were listed before${
        detections.lead_seconds === null ? '' : ` (half of them ${durationText(detections.lead_seconds)} or more)`
      }, ${countText(detections.after)} after, ${countText(detections.never)} never`,
    ],
    ['', detectedText(list.detected)],
    ['hits', list.dropped.hits > 0 && hitsText(list)],
    ['protected', list.protected.length > 0 && `it has addresses of ${list.protected.join(', ')}`],
    [
      'never-block',
      never.count > 0 &&
        `${countText(never.count)} rules, such as ${never.first
          .slice(0, 3)
          .map((each) => each.value)
          .join(', ')}`,
    ],
  ];
  const overlaps = list.overlaps.slice(0, SHOWN).map((row) => [printable(row.name), row.entries, row.addresses_v4]);
  const feedRows = feeds.map((row) => [printable(row.name), `${row.kind}, ${row.action}`, row.entries, row.entries_without, row.costs]);
  return [
    lines.flatMap(([what, text]) => (text === false ? [] : [`${what.padEnd(11)}  ${text}`])).join('\n'),
    ...copyLines(list),
    ...(overlaps.length === 0
      ? ['no other list has any of its entries']
      : [table(['IN COMMON WITH', 'ENTRIES', 'IPV4 ADDRESSES'], overlaps, (row) => row)]),
    table(['FEED', '', 'ENTRIES', 'WITHOUT IT', 'COST'], feedRows, (row) => row),
  ].join('\n\n');
}
