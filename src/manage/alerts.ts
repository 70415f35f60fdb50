/** Shared by `weir status`, the console and webhooks (SPEC D10.16, D27.2). */
import type { Check } from '../ports/health.ts';
import { plural } from '../text/count.ts';
import { type EndingKey, type EngineStatus, engineFault, factsOf, type StatusFacts, type StatusParts } from './status.ts';

export interface Alert {
  /** Stays the same when the text changes. */
  readonly key: string;
  readonly state: string;
  /** A sentence without its full stop. */
  readonly text: string;
  /** False if only age is the problem. */
  readonly urgent: boolean;
}

/** The output of `weir status --json`, and the API response for one workspace. */
export interface Status extends StatusFacts {
  readonly attention: readonly string[];
  readonly urgent: boolean;
}

export function serviceStatus(parts: StatusParts): Status {
  const facts = factsOf(parts);
  const items = alertsOf(facts);
  return { attention: items.map(({ text }) => text), urgent: items.some(({ urgent }) => urgent), ...facts };
}

export const alertsOf = (facts: StatusFacts): Alert[] => [
  ...urgentOf(facts).map((item) => ({ ...item, urgent: true })),
  ...agingOf(facts).map((item) => ({ ...item, urgent: false })),
];

type Item = Omit<Alert, 'urgent'>;

const OLD_GEO = 90;
const MOST_LAG = 60;
/** A feed frozen for this long is an alert. */
const FROZEN_HOURS = 24;

function agingOf({ geo, ending_keys: keys }: StatusFacts): Item[] {
  const old = (key: string, what: string, days: number) =>
    days > OLD_GEO ? [{ key, state: 'old', text: `${what} data is ${days} days old (docs/geo.md)` }] : [];
  const ends = ({ id, name, prefix, workspace, expires_at: at }: EndingKey) => ({
    key: `key/${id}`,
    state: 'ending',
    text: `the key "${name ?? prefix}" of ${workspace} is in use and expires at ${at} (docs/keys.md)`,
  });
  const ages = geo ? [...old('geo/country', 'country', geo.country_age_days), ...old('geo/asn', 'ASN', geo.asn_age_days)] : [];
  return [...ages, ...(keys ?? []).map(ends)];
}

type FeedJson = Pick<StatusFacts['feeds'][number], 'workspace_id' | 'id' | 'action' | 'family' | 'rated'>;

/** Identifies a variant of a feed in alert keys. */
export const feedKey = ({ workspace_id: workspace, id, action, family, rated }: FeedJson): string =>
  `feed/${workspace}/${id ?? 'workspace'}/${action}/${family}${rated ? '/rated' : ''}`;

function fetchedText(feeds: readonly (string | null)[]): string {
  const names = feeds.slice(0, MOST_FEEDS).map((name) => (name === null ? "the workspace's feed" : `the feed "${name}"`));
  if (feeds.length > MOST_FEEDS) names.push(`${feeds.length - MOST_FEEDS} more`);
  return names.length === 0 ? '' : ` ${names.join(', ')}`;
}
const MOST_FEEDS = 3;

/** Consecutive events of a feed share one key. */
const CAP_EVENTS = ['near_cap', 'over_cap'];

const unready = ({ pid, checks }: { readonly pid: number; readonly checks: Readonly<Record<string, Check>> }): Item[] =>
  Object.entries(checks).flatMap(([name, { ok, reason }]) =>
    ok || name === 'landing' ? [] : [{ key: `check/${name}/${pid}`, state: 'not_ready', text: `${name} of process ${pid}: ${reason}` }],
  );

function landingItems({ landing }: StatusFacts): Item[] {
  const item = (state: string, text: string) => [{ key: 'landing', state, text }];
  if (landing === null) return [];
  if (landing.reason !== undefined)
    return item('stopped', `landing: ${landing.reason} (${landing.lag_messages ?? 'unknown'} messages waiting)`);
  return (landing.lag_seconds ?? 0) > MOST_LAG ? item('late', `landing is ${landing.lag_seconds} seconds behind`) : [];
}

function urgentOf(facts: StatusFacts): Item[] {
  const { engines, processes, feeds, dead_letters: letters, stopped, full_devices: full, sources, guard_rails_off: unguarded } = facts;
  const { failing_webhooks: webhooks, frozen_feeds: frozen, waiting_approvals: approvals } = facts;
  const engine = (name: string, status: EngineStatus) =>
    status.ok
      ? []
      : [{ key: `engine/${name}`, state: status.is_full ? 'full' : 'away', text: `the ${name} ${engineFault(status)}: ${status.reason}` }];
  const none = { key: 'processes', state: 'none', text: 'no server has written its status to DATA_DIR lately: feeds are unknown' };
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
        text: `the ${kind} ${JSON.stringify(agent)} at ${address} of ${workspace} stopped fetching${fetchedText(of)} with the key "${key ?? keyId}", last at ${at} (weir ${kind} ls)`,
      }),
    ),
    ...(full ?? []).map(({ id, user_agent: agent, address, workspace, target, entries, limit, feeds: of }) => ({
      key: `device-cap/${id}`,
      state: entries > limit ? 'over' : 'near',
      text: `the device ${JSON.stringify(agent)} at ${address} of ${workspace} has ${entries} entries in its feeds (${of.join(', ')}), ${Math.floor((entries / limit) * 100)}% of the ${limit} that ${target} accepts in all (docs/feeds.md)`,
    })),
    ...(frozen ?? [])
      .filter(({ hours, canary_keys: canaries }) => canaries !== null || hours >= FROZEN_HOURS)
      .map(
        ({ workspace_id: workspaceId, workspace, id, name, frozen_since: since, canary_keys: canaries, canary_until: until, reason }) => ({
          key: `freeze/${workspaceId}/${id ?? 'workspace'}`,
          state: canaries === null ? 'frozen' : until === null ? 'stopped' : 'canary',
          text:
            canaries !== null
              ? `a large change of the feed "${name}" of ${workspace} (${reason}) waits since ${since} for ${until === null ? 'a decision' : `its ${plural(canaries.length, 'canary key')}, until ${until}`} (weir canary promote, weir canary stop)`
              : `the feed "${name}" of ${workspace} has been frozen since ${since}: new blocks do not reach it (weir feed thaw)`,
        }),
      ),
    ...(approvals ?? []).map(({ workspace_id: id, workspace, requests }) => ({
      key: `approvals/${id}`,
      state: 'waiting',
      text: `${plural(requests, 'change')} of ${workspace} ${requests === 1 ? 'waits' : 'wait'} for approval (weir approval ls)`,
    })),
    ...(letters ? [{ key: 'dead_letters', state: 'there', text: `${letters} dead letters (weir dead-letter ls)` }] : []),
    ...(unguarded?.length
      ? [{ key: 'guard_rails', state: 'off', text: `guard rails are off in ${unguarded.join(', ')} (docs/deployment.md)` }]
      : []),
  ];
}
