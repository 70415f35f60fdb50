/** `weir bouncer`. */

import { allBouncers } from '../../manage/devices/recent-use.ts';
import { bouncerJson } from '../../manage/operations/bouncers.ts';
import { feedNamesIn } from '../../manage/rules/rule-json.ts';
import { countText } from '../../text/count.ts';
import type { AddCommand } from '../command.ts';
import { readsIn, table } from '../context.ts';
import { inWorkspace } from '../usage.ts';

export function bouncerCommands(add: AddCommand): void {
  add('bouncer ls', 'list the bouncers of the last 30 days, and what they cannot enforce', inWorkspace, {
    async run(context, _args, options) {
      const { store, workspace } = await readsIn(context, options.workspace);
      const { keys, feeds } = await feedNamesIn(store, workspace);
      return (await Array.fromAsync(allBouncers(store, workspace))).map((bouncer) => ({
        ...bouncerJson(bouncer, keys),
        feed_name: feeds.get(bouncer.feedId ?? '') ?? null,
      }));
    },
    show: (rows) =>
      [
        table(['BOUNCER', 'ADDRESS', 'KEY', 'FEED', 'LAST PULL', 'DECISIONS', 'NETWORKS', 'LEFT OUT'], rows, (b) => [
          b.user_agent,
          b.address,
          b.key_name ?? b.key_id,
          b.feed_name ?? b.feed_id,
          b.last_pull,
          b.decisions,
          b.networks,
          b.left_out_networks === 0 ? null : `${b.left_out_networks} (${countText(b.left_out_addresses)} addresses)`,
        ]),
        ...rows.flatMap(({ user_agent: name, address, cannot_enforce: certain, depends_on_mode: otherwise }) =>
          [certain, otherwise].flatMap((gap) => (gap === null ? [] : [`${name} at ${address} ${gap}`])),
        ),
      ].join('\n'),
  });
}
