import type { DifferenceJson } from '../../manage/changes/difference.ts';
import { countText } from '../../text/count.ts';
import { printable } from '../context.ts';
import { type AnyRow, row } from '../rows/row.ts';
import { SINCE_RULE, sinceOf } from './selection.ts';

export const DIFFERENCE_ROWS: readonly AnyRow[] = [
  row<DifferenceJson>({
    words: 'feed diff [feed]',
    operation: 'feedDifference',
    summary: "compare the networks of a feed (without one: of the workspace's feed) at two points in time",
    options: {
      since: { help: `the first point: ${SINCE_RULE}`, fallback: '1d', read: sinceOf },
      until: { help: 'the second, as --since; now when absent' },
      limit: { help: 'how many networks are named, of the added and of the removed ones', fallback: 1000 },
    },
    show: differenceText,
  }),
];

/** In the format of `diff`. */
function differenceText({ since, until, before, after, added, removed, ...more }: DifferenceJson): string {
  const { added_networks: came, removed_networks: went, settings_changed: settings, frozen_since: frozen } = more;
  const left = added - came.length + removed - went.length;
  return [
    `--- ${since}  ${countText(before.entries)} entries${before.over_cap ? ', over its cap, not published' : ''}`,
    `+++ ${until}  ${countText(after.entries)} entries${after.over_cap ? ', over its cap, not published' : ''}`,
    ...went.map((network) => `-${network}`),
    ...came.map((network) => `+${network}`),
    `${countText(added)} networks more, ${countText(removed)} less${left > 0 ? `; ${countText(left)} of them are not shown: --limit` : ''}`,
    ...(frozen === null ? [] : [`the feed has been frozen since ${frozen}: the networks are those of its current rules`]),
    ...settings.map(({ at, event, name }) => `${event} ${printable(name ?? '')} at ${at}: each moment is made by what was set then`),
  ].join('\n');
}
