/** Independent of the store (SPEC D33.2). */

import { isExpressionKind, type Kind } from '../../rule.ts';
import type { formatTarget } from '../../signal/target.ts';
import type { FeedNames } from './rule-json.ts';
import type { OriginRule } from './rule-search.ts';

/** Characters compared. */
const COUNTED = 64;

/** null sorts last. */
export type SortKey = string | number | null;

interface Sort {
  /** Absent: all. */
  readonly of?: 'access' | 'expression';
  readonly needsOrigin?: true;
  key(rule: OriginRule, names: Pick<FeedNames, 'lists' | 'keys'>): SortKey;
}

/** Names equal column names. */
const SORTS = {
  target: { of: 'access', key: ({ stored: { rule } }) => ('target' in rule ? targetKey(rule.target) : null) },
  size: { of: 'access', key: ({ stored: { rule } }) => ('target' in rule ? sizeOf(rule.target) : null) },
  list: { of: 'access', key: ({ stored: { listId } }, { lists }) => textKey(lists.get(listId ?? '') ?? null) },
  order: { of: 'expression', key: ({ stored: { rule } }) => ('order' in rule ? rule.order : null) },
  name: { key: ({ stored: { rule } }) => textKey(rule.name ?? rule.ruleRef) },
  action: { key: ({ stored: { rule } }) => rule.action },
  reason: { key: ({ stored: { rule } }) => textKey(rule.reason) },
  rule_ref: { key: ({ stored: { rule } }) => rule.ruleRef },
  key: {
    needsOrigin: true,
    key: ({ origin }, { keys }) => textKey(origin?.actor ?? keys.get(origin?.keyId ?? '') ?? null),
  },
  created: { key: ({ stored: { createdAt } }) => createdAt },
  changed: { key: ({ stored: { updatedAt } }) => updatedAt },
  expires: { key: ({ stored: { rule } }) => rule.expiresAt },
} satisfies Record<string, Sort>;

export type SortName = keyof typeof SORTS;
export const SORT_NAMES = Object.keys(SORTS) as readonly SortName[];

export const sortOf = (name: SortName): Sort => SORTS[name];

export const hasSort = (kind: Kind, name: SortName): boolean => {
  const { of }: Sort = SORTS[name];
  return of === undefined || (of === 'expression') === isExpressionKind(kind);
};

/** Below 0 if `a` comes first; null comes last in both directions. */
export function compareKeys(a: SortKey, b: SortKey, descending: boolean): number {
  if (a === b) return 0;
  if (a === null || b === null) return a === null ? 1 : -1;
  return a < b === descending ? 1 : -1;
}

const textKey = (text: string | null): string | null => (text === null || text === '' ? null : text.toLowerCase().slice(0, COUNTED));

type AnyTarget = Parameters<typeof formatTarget>[0];

/** Addresses; null for countries and ASNs. */
const sizeOf = (target: AnyTarget): number | null =>
  target.kind === 'ip' ? 2 ** ((target.network.family === 4 ? 32 : 128) - target.network.prefix) : null;

/** Networks by number, broader ones first; then ASNs, then countries. */
function targetKey(target: AnyTarget): string {
  if (target.kind === 'asn') return `7${String(target.asn).padStart(10, '0')}`;
  if (target.kind === 'country') return `8${target.country}`;
  const { family, address, prefix } = target.network;
  const words = [address].flat().map((word) => (word >>> 0).toString(16).padStart(8, '0'));
  return `${family}${words.join('')}/${String(prefix).padStart(3, '0')}`;
}
