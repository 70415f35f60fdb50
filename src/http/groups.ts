/** A group of addresses: their common properties. */

interface GroupRow {
  /** The setting with its rate limit per key and minute. */
  readonly limit: 'rateLimitSignals' | 'rateLimitFeeds' | 'rateLimitManage';
  /** Shape of errors: signals (spec 7.2), feeds (spec 7.3), or existing bouncers (SPEC D14.11). */
  readonly errors: 'signal' | 'feed' | 'bouncer';
  /** For a 401 (spec 5). */
  readonly challenges: readonly string[];
  /** Accepts a key as the password of HTTP Basic. */
  readonly acceptsBasic?: true;
  readonly keyHeader?: 'x-api-key';
  /** Name in the address of its API document. */
  readonly docs: string;
}

const BEARER = ['Bearer'];
/** Some devices support nothing else. */
const BASIC = 'Basic realm="threat-feed", charset="UTF-8"';

const ROWS = {
  signal: { limit: 'rateLimitSignals', errors: 'signal', challenges: BEARER, docs: 'signal' },
  feed: { limit: 'rateLimitFeeds', errors: 'feed', challenges: [BASIC, ...BEARER], acceptsBasic: true, docs: 'feeds' },
  rules: { limit: 'rateLimitFeeds', errors: 'feed', challenges: BEARER, docs: 'rules' },
  agent: { limit: 'rateLimitFeeds', errors: 'feed', challenges: BEARER, docs: 'agent' },
  bouncer: { limit: 'rateLimitFeeds', errors: 'bouncer', challenges: BEARER, keyHeader: 'x-api-key', docs: 'bouncer' },
  manage: { limit: 'rateLimitManage', errors: 'signal', challenges: BEARER, docs: 'manage' },
} as const satisfies Readonly<Record<string, GroupRow>>;

export type Group = keyof typeof ROWS;
export const GROUPS: Readonly<Record<Group, GroupRow>> = ROWS;
export const GROUP_NAMES = Object.keys(GROUPS) as readonly Group[];
