/** The clients of a feed, as `weir lookup` prints them. */
import type { Pulled } from '../../manage/lookup/path.ts';
import { plural } from '../../text/count.ts';
import { printable } from '../context.ts';

export const indented = (lines: readonly string[]) => lines.map((line) => `  ${line}`);

const CLIENT_STATES: Readonly<Record<Pulled['told'][number]['state'], string>> = {
  behind: 'not yet seen to have it',
  unknown: 'unknown',
  has: 'has it',
};

/** Clients and whether they are up to date, problems first. */
export function pulledLines(pulled: Pulled | undefined): string[] {
  if (pulled === undefined || pulled.total === 0) return [];
  const { total, has, behind, unknown, told: clients } = pulled;
  const lines = clients.map(({ kind, state, key_id, key_name, user_agent: agent, address, last_pull: last, stopped_at: stopped }) =>
    printable(
      `${CLIENT_STATES[state]}: ${kind} ${JSON.stringify(agent)} at ${address}, key ${key_name ?? key_id}, ${stopped === null ? 'fetched' : 'stopped, fetched'} last at ${last}`,
    ),
  );
  const more = total > clients.length ? [`and ${total - clients.length} more (weir device ls, weir bouncer ls)`] : [];
  return [
    `of ${plural(total, 'client')} ${has} are up to date, ${behind} are behind, ${unknown} unknown:`,
    ...indented([...lines, ...more]),
  ];
}
