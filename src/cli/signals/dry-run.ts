/** Sums up dry runs over all batches of a file (SPEC D10.14). */

import type { ForecastField, ForecastFields } from '../../feed/monitor/forecast-fields.ts';
import { plural } from '../../text/count.ts';

interface FeedSum extends Readonly<Omit<ForecastField, 'entries_after' | 'left_out' | 'warning'>> {
  /** The sum over batches, each tried alone. */
  readonly entries_change: number;
  readonly warnings: readonly string[];
}

export interface DryRunSum {
  readonly batches: number;
  readonly feeds: readonly FeedSum[];
  /** Feeds that were not counted: the maximum of the batches. */
  readonly feeds_left_out: number;
  /** Why batches were not counted. */
  readonly unknown: readonly string[];
}

export const NOTHING_TRIED: DryRunSum = { batches: 0, feeds: [], feeds_left_out: 0, unknown: [] };

export function withBatch(sum: DryRunSum, answer: ForecastFields): DryRunSum {
  const { feeds = 'unknown', feeds_left_out: leftOut = 0, feeds_reason: reason = 'the service is older than this command' } = answer;
  const batches = sum.batches + 1;
  if (feeds === 'unknown') return { ...sum, batches, unknown: [...new Set([...sum.unknown, reason])] };
  const found = new Map(sum.feeds.map((feed) => [keyOf(feed), feed]));
  for (const { entries_after: after, warning, ...row } of feeds) {
    const {
      entries_change: change,
      entries_before: before,
      warnings,
    } = found.get(keyOf(row)) ?? { ...row, entries_change: 0, warnings: [] };
    const { widened } = found.get(keyOf(row)) ?? {};
    found.set(keyOf(row), {
      ...row,
      ...(widened !== undefined && { widened: sumOf(widened, row.widened) }),
      entries_before: before,
      entries_change: change + after - row.entries_before,
      warnings: warning === undefined ? warnings : [...warnings, warning],
    });
  }
  return { ...sum, batches, feeds: [...found.values()], feeds_left_out: Math.max(sum.feeds_left_out, leftOut) };
}

type Widened = NonNullable<ForecastField['widened']>;

const sumOf = (one: Widened, other: Widened = { hosts: 0, as_sent: 0 }): Widened => ({
  hosts: one.hosts + other.hosts,
  as_sent: one.as_sent + other.as_sent,
});

const widenedLines = ({ hosts, as_sent: asSent }: Widened): string[] => [
  ...(hosts > 0 ? [`${plural(hosts, 'address', 'addresses')} served as networks`] : []),
  ...(asSent > 0 ? [`${plural(asSent, 'address', 'addresses')} served as sent: the networks around may not be blocked`] : []),
];

const keyOf = ({ id, action }: Pick<FeedSum, 'id' | 'action'>) => `${id} ${action}`;

/** One line per feed. */
export function sumLines({ batches, feeds, feeds_left_out: leftOut, unknown }: DryRunSum): string[] {
  const change = (count: number) => (count < 0 ? `${-count} fewer` : `${count} more`);
  const each = batches > 1 ? `, the sum of ${batches} batches that were each tried alone` : '';
  return [
    ...feeds.flatMap(
      ({
        kind,
        name,
        action,
        entries_before: before,
        entries_change: more,
        entry_limit: limit,
        warnings,
        widened,
        frozen_since: frozen,
      }) => {
        const over = before + more > limit && before <= limit ? ': OVER ITS CAP' : '';
        const of = kind === 'workspace' ? `workspace ${name}` : name;
        return [
          `${of} (${action}): ${plural(before, 'entry', 'entries')} of ${limit}, ${change(more)}${each}${over}`,
          ...(widened === undefined ? [] : widenedLines(widened).map((text) => `${of} ${text}`)),
          ...(frozen === undefined ? [] : [`${of} has been frozen since ${frozen}: it changes when it is thawed`]),
          ...warnings.map((text) => `${of} ${text}`),
        ];
      },
    ),
    ...(leftOut > 0 ? [`and ${leftOut} more feeds, which were not counted`] : []),
    ...unknown.map((reason) => `what changes in feeds is unknown: ${reason}`),
  ];
}
