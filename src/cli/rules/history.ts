/** `weir history`. */
import { dayOf } from '../../clock.ts';
import { dayJson } from '../../manage/history.ts';
import { KEPT_DAYS } from '../../ports/history.ts';
import type { StoreReads } from '../../ports/store.ts';
import type { AddCommand } from '../command.ts';
import { readsIn, table } from '../context.ts';
import { duration, inWorkspace, pick } from '../usage.ts';

export function historyCommand(add: AddCommand): void {
  add(
    'history [feed]',
    'what was added, expired, removed and undone in a list or a workspace day by day, and how large its block feed was',
    (c) =>
      inWorkspace(c).option('--days <count>', 'how many days, today included; also such as 2w', duration('--days', 1, KEPT_DAYS, 'd'), 30),
    {
      async run(context, [feed], { workspace, days }) {
        const { store, workspace: id } = await readsIn(context, workspace);
        const to = dayOf(Date.now());
        const feedId = feed === undefined ? null : await findAny(store, id, feed);
        return (await store.feedDays(id, feedId, { from: to - days + 1, to })).map(dayJson);
      },
      show: (rows) =>
        table(['DAY', 'ADDED', 'EXPIRED', 'REMOVED', 'UNDONE', 'HITS', 'V4', 'V4 MAX', 'V6', 'V6 MAX'], rows, (d) => [
          d.day,
          d.added,
          d.expired,
          d.removed,
          d.undone,
          d.hits,
          d.v4?.last,
          d.v4?.max,
          d.v6?.last,
          d.v6?.max,
        ]),
    },
  );
}

/** The id of the list or the composed feed that `text` names. */
async function findAny(store: StoreReads, workspace: string, text: string): Promise<string> {
  const directory = await store.directory(workspace);
  return pick([...(directory?.lists ?? []), ...(await store.feeds(workspace))], text, 'list or feed').id;
}
