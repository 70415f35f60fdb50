import { sharesText } from '../../feed/shares.ts';
import type { Status } from '../../manage/alerts.ts';
import { type EngineStatus, engineFault } from '../../manage/status.ts';
import { printable, table } from '../context.ts';

const UNKNOWN = 'unknown';
/** The fullest feeds. */
const SHOWN = 20;

interface SnoozeText {
  readonly attention: string;
  readonly workspace: string;
  readonly reason: string;
  readonly until: string | null;
  readonly actor: string | null;
  readonly key_name: string | null;
  readonly key_id: string | null;
}

export function statusText(status: Status & { readonly snoozes?: readonly SnoozeText[] }): string {
  const {
    attention,
    engines,
    processes,
    landing,
    feeds,
    geo,
    dead_letters: letters,
    unused_keys: unused,
    guard_rails_off: unguarded,
    snoozes = [],
  } = status;
  const engine = (status: EngineStatus) => (status.ok ? status.kind : `${status.kind}, ${engineFault(status)}`);
  const lag = landing && `${landing.lag_messages ?? UNKNOWN} messages, ${landing.lag_seconds ?? UNKNOWN} seconds behind`;
  const fullest = feeds.toSorted((a, b) => b.cap_use_percent - a.cap_use_percent);
  return [
    attention.length === 0 ? 'nothing needs attention' : 'needs attention:',
    ...attention.flatMap((line) => [`  ${line}`, ...snoozes.filter((each) => each.attention === line).map(snoozeLine)]),
    '',
    ...[
      ['store', engine(engines.store)],
      ['stream', engine(engines.stream)],
      ['landing', lag ?? UNKNOWN],
      ...processes.map(({ pid, url, roles, started_at: started }) => [
        'process',
        `${pid}${url === undefined ? '' : ` on ${url}`}: ${roles.join(', ')}, since ${started}`,
      ]),
      ['geo data', geo === null ? UNKNOWN : `countries ${geo.country_age_days} days old, ASNs ${geo.asn_age_days} days old`],
      ['dead letters', letters ?? UNKNOWN],
      ['guard rails', unguarded === null ? UNKNOWN : unguarded.length === 0 ? 'on' : `off in ${unguarded.join(', ')}`],
      ['unused keys', unused === null ? UNKNOWN : `${unused.length} not seen for a week`],
    ].map(([name, value]) => `${`${name}:`.padEnd(14)}${value}`),
    ...(unused ?? []).map(
      (key) => `  ${key.id} ${key.prefix} ${key.name ?? '-'} of ${key.workspace}, last seen ${key.last_used_at ?? 'never'}`,
    ),
    ...(feeds.length === 0 ? [] : ['', feedTable(fullest.slice(0, SHOWN))]),
    ...new Map(fullest.slice(0, SHOWN).toReversed().flatMap(sharesLines)).values(),
    ...(feeds.length > SHOWN ? [`and ${feeds.length - SHOWN} more with more room; --json shows all`] : []),
  ].join('\n');
}

const snoozeLine = ({ workspace, reason, until, actor, key_name, key_id }: SnoozeText) =>
  printable(`    snoozed in ${workspace} until ${until} by ${actor ?? key_name ?? key_id ?? 'a command'}: ${reason}`);

/** Shares of lists in a nearly full feed. */
const sharesLines = ({ name, workspace_id, id, workspace, action, shares }: Status['feeds'][number]): [feed: string, line: string][] =>
  // One line per feed, in any family or format.
  shares === null ? [] : [[`${workspace_id} ${id} ${action}`, `${action} feed "${name}" of ${workspace}: ${sharesText(shares)}`]];

const feedTable = (feeds: Status['feeds']): string =>
  table(
    ['WORKSPACE', 'FEED', 'ACTION', 'FAMILY', 'ENTRIES', 'CAP', 'USE', 'STALE SINCE'],
    feeds,
    ({ workspace, id, name, action, family, rated, entries, entry_limit: limit, cap_use_percent: use, stale_since: stale }) => [
      workspace,
      id === null ? null : name,
      action,
      `${family}${rated ? ' (csv_indicator)' : ''}`,
      entries,
      limit,
      `${use}%${entries > limit ? ', not published' : ''}`,
      stale,
    ],
  );
