/** The groups of addresses: what the addresses of each have in common, a row each. */

interface GroupRow {
  /** The setting of its limit of requests per key and minute. */
  readonly limit: 'rateLimitSignals' | 'rateLimitFeeds' | 'rateLimitManage';
  /** Whose shape its errors have: that of signals (spec 7.2), that of feeds (spec 7.3), or what bouncers' own clients know (SPEC D14.11). */
  readonly errors: 'signal' | 'feed' | 'bouncer';
  /** What a 401 asks for (spec 5). */
  readonly challenges: readonly string[];
  /** Whether a key may come as the password of HTTP Basic. */
  readonly takesBasic?: true;
  /** A header that a key may come in instead. */
  readonly keyHeader?: 'x-api-key';
  /** What the address of its API document calls it. */
  readonly docs: string;
}

const BEARER = ['Bearer'];
/** Devices that poll feeds may know nothing else. */
const BASIC = 'Basic realm="threat-feed", charset="UTF-8"';

const ROWS = {
  signal: { limit: 'rateLimitSignals', errors: 'signal', challenges: BEARER, docs: 'signal' },
  feed: { limit: 'rateLimitFeeds', errors: 'feed', challenges: [BASIC, ...BEARER], takesBasic: true, docs: 'feeds' },
  rules: { limit: 'rateLimitFeeds', errors: 'feed', challenges: BEARER, docs: 'rules' },
  agent: { limit: 'rateLimitFeeds', errors: 'feed', challenges: BEARER, docs: 'agent' },
  bouncer: { limit: 'rateLimitFeeds', errors: 'bouncer', challenges: BEARER, keyHeader: 'x-api-key', docs: 'bouncer' },
  manage: { limit: 'rateLimitManage', errors: 'signal', challenges: BEARER, docs: 'manage' },
} as const satisfies Readonly<Record<string, GroupRow>>;

export type Group = keyof typeof ROWS;
export const GROUPS: Readonly<Record<Group, GroupRow>> = ROWS;
export const GROUP_NAMES = Object.keys(GROUPS) as readonly Group[];
