/** `weir bouncer`. */
import { bouncerJson } from '../../manage/operations/bouncers.ts';
import { allBouncers } from '../../manage/recent-use.ts';
import type { AddCommand } from '../command.ts';
import { table, workspaceId } from '../context.ts';
import { inWorkspace } from '../usage.ts';

export function bouncerCommands(add: AddCommand): void {
  add('bouncer ls', 'list the bouncers of the last 30 days, and what they cannot enforce', inWorkspace, {
    async run(context, _args, options) {
      const store = await context.reads();
      return (await Array.fromAsync(allBouncers(store, await workspaceId(store, options.workspace)))).map(bouncerJson);
    },
    show: (rows) =>
      [
        table(
          ['BOUNCER', 'ADDRESS', 'KEY', 'FEED', 'LAST PULL', 'DECISIONS', 'NETWORKS', 'LEFT OUT'],
          rows.map((b) => [
            b.user_agent,
            b.address,
            b.key_id,
            b.feed_id,
            b.last_pull,
            b.decisions,
            b.networks,
            b.left_out_networks === 0 ? null : `${b.left_out_networks} (${b.left_out_addresses} addresses)`,
          ]),
        ),
        ...rows.flatMap(({ user_agent: name, address, cannot_enforce: certain, depends_on_mode: otherwise }) =>
          [certain, otherwise].flatMap((gap) => (gap === null ? [] : [`${name} at ${address} ${gap}`])),
        ),
      ].join('\n'),
  });
}
