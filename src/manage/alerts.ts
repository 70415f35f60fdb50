/** What needs attention, of a service or a workspace: one table of it for `weir status`, the console and webhooks (SPEC D10.16, D27.2). */
import type { Check } from '../ports/health.ts';
import { type EndingKey, type EngineStatus, engineFault, factsOf, type StatusFacts, type StatusParts } from './status.ts';

/** One thing that needs attention. */
export interface Alert {
  /** What it is of: the same as long as it is of that, whatever its words are. */
  readonly key: string;
  /** How that is, in a word. */
  readonly state: string;
  /** A sentence without its end. */
  readonly text: string;
  /** Whether it is more than age: old geo data, and keys that end soon, have time. */
  readonly urgent: boolean;
}

/** What `weir status --json` prints, and the API answers of one workspace. */
export interface Status extends StatusFacts {
  /** A line for each thing that needs attention. */
  readonly attention: readonly string[];
  /** Whether anything of that is more than age. */
  readonly urgent: boolean;
}

export function serviceStatus(parts: StatusParts): Status {
  const facts = factsOf(parts);
  const items = alertsOf(facts);
  return { attention: items.map(({ text }) => text), urgent: items.some(({ urgent }) => urgent), ...facts };
}

/** What needs attention, what is urgent first. */
export const alertsOf = (facts: StatusFacts): Alert[] => [
  ...urgentOf(facts).map((item) => ({ ...item, urgent: true })),
  ...agingOf(facts).map((item) => ({ ...item, urgent: false })),
];

type Item = Omit<Alert, 'urgent'>;

/** Geo data that are older than this need attention, days; landing that is behind by more, seconds. */
const OLD_GEO = 90;
const LATE = 60;

/** What gets old, and has time. */
function agingOf({ geo, ending_keys: keys }: StatusFacts): Item[] {
  const old = (key: string, what: string, days: number) =>
    days > OLD_GEO ? [{ key, state: 'old', text: `${what} data are ${days} days old (docs/geo.md)` }] : [];
  const ends = ({ id, name, prefix, workspace, expires_at: at }: EndingKey) => ({
    key: `key/${id}`,
    state: 'ending',
    text: `the key "${name ?? prefix}" of ${workspace}, which is in use, ends at ${at} (docs/keys.md)`,
  });
  const ages = geo ? [...old('geo/country', 'country', geo.country_age_days), ...old('geo/asn', 'ASN', geo.asn_age_days)] : [];
  return [...ages, ...(keys ?? []).map(ends)];
}

type FeedJson = Pick<StatusFacts['feeds'][number], 'workspace_id' | 'id' | 'action' | 'family' | 'rated'>;

/** Which variant of a feed, before what of it needs attention. */
export const feedKey = ({ workspace_id: workspace, id, action, family, rated }: FeedJson): string =>
  `feed/${workspace}/${id ?? 'workspace'}/${action}/${family}${rated ? '/rated' : ''}`;

/** The feeds that a client got, the first of them by name. */
function pulledText(feeds: readonly (string | null)[]): string {
  const names = feeds.slice(0, MOST_FEEDS).map((name) => (name === null ? "the workspace's feed" : `the feed "${name}"`));
  if (feeds.length > MOST_FEEDS) names.push(`${feeds.length - MOST_FEEDS} more`);
  return names.length === 0 ? '' : ` ${names.join(', ')}`;
}
const MOST_FEEDS = 3;

/** Events of a feed of which one follows another are one thing. */
const CAP_EVENTS = ['near_cap', 'over_cap'];

const unready = ({ pid, checks }: { readonly pid: number; readonly checks: Readonly<Record<string, Check>> }): Item[] =>
  Object.entries(checks).flatMap(([name, { ok, reason }]) =>
    ok || name === 'landing' ? [] : [{ key: `check/${name}/${pid}`, state: 'not_ready', text: `${name} of process ${pid}: ${reason}` }],
  );

function landingItems({ landing }: StatusFacts): Item[] {
  const item = (state: string, text: string) => [{ key: 'landing', state, text }];
  if (landing === null) return [];
  if (landing.reason !== undefined)
    return item('stopped', `landing: ${landing.reason} (${landing.lag_messages ?? 'unknown'} messages wait)`);
  return (landing.lag_seconds ?? 0) > LATE ? item('late', `landing is ${landing.lag_seconds} seconds behind`) : [];
}

function urgentOf(facts: StatusFacts): Item[] {
  const { engines, processes, feeds, dead_letters: letters, stopped, full_devices: full, sources, guard_rails_off: unguarded } = facts;
  const { failing_webhooks: webhooks } = facts;
  const engine = (name: string, status: EngineStatus) =>
    status.ok
      ? []
      : [{ key: `engine/${name}`, state: status.is_full ? 'full' : 'away', text: `the ${name} ${engineFault(status)}: ${status.reason}` }];
  const none = { key: 'processes', state: 'none', text: 'no server has written its status into DATA_DIR lately: feeds are not known' };
  return [
    ...engine('store', engines.store),
    ...engine('stream', engines.stream),
    ...(processes.length === 0 ? [none] : processes.flatMap(unready)),
    ...landingItems(facts),
    ...feeds.flatMap(({ events, ...feed }) =>
      events.map(({ kind, text, since }) => ({
        key: `${feedKey(feed)}/${CAP_EVENTS.includes(kind) ? 'cap' : kind}`,
        state: kind,
        text: `the ${feed.action} feed "${feed.name}" of ${feed.workspace} ${text} (since ${since})`,
      })),
    ),
    ...(sources ?? []).map(({ id, name, workspace, state, text }) => ({
      key: `source/${id}`,
      state,
      text: `the source "${name}" of ${workspace} ${text}`,
    })),
    ...(webhooks ?? []).map(({ id, name, workspace, failures }) => ({
      key: `webhook/${id}`,
      state: 'failing',
      text: `the webhook ${workspace === null ? 'of the service (WEBHOOK_URL)' : `"${name}" of ${workspace}`} has failed ${failures} times in a row (docs/webhooks.md)`,
    })),
    ...(stopped ?? []).map(
      ({ kind, id, user_agent: agent, address, key_id: keyId, key_name: key, feeds: of, workspace, last_pull: at }) => ({
        key: `${kind}/${id}`,
        state: 'stopped',
        text: `the ${kind} ${JSON.stringify(agent)} at ${address} of ${workspace} stopped pulling${pulledText(of)} with the key "${key ?? keyId}", last at ${at} (weir ${kind} ls)`,
      }),
    ),
    ...(full ?? []).map(({ id, user_agent: agent, address, workspace, target, entries, limit, feeds: of }) => ({
      key: `device-cap/${id}`,
      state: entries > limit ? 'over' : 'near',
      text: `the device ${JSON.stringify(agent)} at ${address} of ${workspace} has ${entries} entries of its feeds together (${of.join(', ')}), ${Math.floor((entries / limit) * 100)}% of the ${limit} that ${target} takes for all (docs/feeds.md)`,
    })),
    ...(letters ? [{ key: 'dead_letters', state: 'there', text: `${letters} dead letters (weir dead-letter ls)` }] : []),
    ...(unguarded?.length
      ? [{ key: 'guard_rails', state: 'off', text: `guard rails are off in ${unguarded.join(', ')} (docs/deployment.md)` }]
      : []),
  ];
}
