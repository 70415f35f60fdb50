/** `weir bouncer`. */
import { bouncerJson } from '../../manage/operations/bouncers.ts';
import type { Page } from '../../ports/account-store.ts';
import type { Bouncer } from '../../ports/bouncer-store.ts';
import type { StoreReads } from '../../ports/store.ts';
import type { AddCommand } from '../command.ts';
import { table, workspaceId } from '../context.ts';
import { inWorkspace } from '../usage.ts';

/** Bouncers that one read asks for. */
const PAGE = 1000;

async function allBouncers(store: StoreReads, workspace: string): Promise<Bouncer[]> {
  const bouncers: Bouncer[] = [];
  for (let after: string | null = null; ; ) {
    const { items, next }: Page<Bouncer> = await store.bouncerPage(workspace, { after, limit: PAGE });
    bouncers.push(...items);
    if (next === null) return bouncers;
    after = next;
  }
}

export function bouncerCommands(add: AddCommand): void {
  add('bouncer ls', 'list the bouncers of the last 30 days, and what they cannot enforce', inWorkspace, {
    async run(context, _args, options) {
      const store = await context.reads();
      return (await allBouncers(store, await workspaceId(store, options.workspace))).map(bouncerJson);
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
