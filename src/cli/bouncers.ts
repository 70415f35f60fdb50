/** `weir bouncer`. */
import { isoTime } from '../clock.ts';
import { gapOf } from '../feed/enforcement-gap.ts';
import type { Bouncer } from '../ports/bouncer-store.ts';
import type { AddCommand } from './command.ts';
import { table, workspaceId } from './context.ts';
import { inWorkspace } from './usage.ts';

const bouncerJson = (bouncer: Bouncer) => ({
  user_agent: bouncer.userAgent,
  address: bouncer.address,
  key_id: bouncer.keyId,
  feed_id: bouncer.feedId,
  first_seen: isoTime(bouncer.firstSeen),
  last_pull: isoTime(bouncer.lastPull),
  decisions: bouncer.decisions,
  networks: bouncer.networks,
  left_out_networks: bouncer.leftOutNetworks,
  left_out_addresses: bouncer.leftOutAddresses,
  cannot_enforce: gapOf(bouncer)?.text ?? null,
  usage_metrics: bouncer.metrics === null ? null : (JSON.parse(bouncer.metrics) as object),
  usage_metrics_at: isoTime(bouncer.metricsAt),
});

export function bouncerCommands(add: AddCommand): void {
  add('bouncer ls', 'list the bouncers of the last 30 days, and what they cannot enforce', inWorkspace, {
    async run(context, _args, options) {
      const store = await context.reads();
      return (await store.bouncers(await workspaceId(store, options.workspace))).map(bouncerJson);
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
        ...rows.flatMap((b) => (b.cannot_enforce === null ? [] : [`${b.user_agent} at ${b.address} ${b.cannot_enforce}`])),
      ].join('\n'),
  });
}
