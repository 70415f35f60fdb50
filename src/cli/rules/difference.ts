/** `weir feed diff`: what a feed had more and less at one moment than at another (SPEC D32.6). */

import { FAMILIES } from '../../feed/variant.ts';
import { feedDifference } from '../../feed/whatif/difference/difference.ts';
import { type DifferenceJson, differenceJson } from '../../manage/changes/difference.ts';
import { ACCESS_ACTIONS } from '../../rule.ts';
import { countText } from '../../text/count.ts';
import type { AddCommand } from '../command.ts';
import { printable, readsIn } from '../context.ts';
import { servedParts } from '../feed-parts.ts';
import { inWorkspace, oneOf, wholeNumber } from '../usage.ts';
import { inSpan } from './conditions.ts';

export function differenceCommand(add: AddCommand): void {
  add(
    'feed diff [feed]',
    "the networks that a feed (the workspace's where none is named) had more and less at one moment than at another",
    (c) =>
      inSpan(inWorkspace(c), 'the first moment', 'the second')
        .option('--family <family>', FAMILIES.join(', '), oneOf('--family', FAMILIES))
        .option('--action <action>', ACCESS_ACTIONS.join(', '), oneOf('--action', ACCESS_ACTIONS))
        .option('--limit <count>', 'networks that are named, of what came and of what went', wholeNumber('--limit', 0, 10_000_000), 1000),
    {
      async run(context, [feed], { workspace, ...asked }) {
        const { store, workspace: id } = await readsIn(context, workspace);
        const { geo, guard, clock } = await servedParts(context);
        const options = { store, clock, geo, guard };
        const now = clock.now();
        return differenceJson(store, (_, wanted) => feedDifference(id, wanted, options), id, { until: now, ...asked, feed }, now);
      },
      show: differenceText,
    },
  );
}

/** As `diff` writes it: what came with `+`, what went with `-`. */
function differenceText({ since, until, before, after, added, removed, ...more }: DifferenceJson): string {
  const { added_networks: came, removed_networks: went, settings_changed: settings } = more;
  const left = added - came.length + removed - went.length;
  return [
    `--- ${since}  ${countText(before.entries)} entries${before.over_cap ? ', over its cap' : ''}`,
    `+++ ${until}  ${countText(after.entries)} entries${after.over_cap ? ', over its cap' : ''}`,
    ...went.map((network) => `-${network}`),
    ...came.map((network) => `+${network}`),
    `${countText(added)} networks more, ${countText(removed)} less${left > 0 ? `; ${countText(left)} of them are not shown: --limit` : ''}`,
    ...settings.map(({ at, event, name }) => `${event} ${printable(name ?? '')} at ${at}: each moment is made by what was set then`),
  ].join('\n');
}
