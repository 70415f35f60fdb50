import type { RulePlace, RulesVariant } from '../../feed/document.ts';
import { isExpressionKind, KINDS, type Kind, perKind, RULE_KINDS, RULE_TYPES, readLabel } from '../../rule.ts';
import type { HttpFault } from '../errors.ts';
import { oneOf, type Parameter, readParameters } from '../feeds/parameters.ts';

/** SPEC D13.2. */
export interface RulesOptions {
  readonly variant: RulesVariant;
  /** A list or feed by UUID or name; null: all. */
  readonly list: string | null;
}

const MOST = 1000;
const text: Parameter<string> = { read: (given) => given, expected: '' };
const never = (expected: string): Parameter<never> => ({ read: () => undefined, expected });
const label: Parameter<readonly [string, string]> = { read: readLabel, expected: 'must be name:value' };
const limit: Parameter<number> = {
  read: (given) => (/^\d{1,4}$/.test(given) && Number(given) >= 1 && Number(given) <= MOST ? Number(given) : undefined),
  expected: `must be a number from 1 to ${MOST}`,
};
const after = (read: (given: string) => RulePlace | undefined): Parameter<RulePlace> => ({ read, expected: 'must be next of a response' });
const ID = /^\d{1,15}$/;
const PLACE = /^(-?\d{1,16})?:([A-Za-z0-9][A-Za-z0-9._:-]{0,127})$/;

export const OF_LISTS = {
  list: text,
  type: never('access rules have no type'),
  label,
  after: after((given) => (ID.test(given) ? { id: Number(given) } : undefined)),
  limit,
};
export const OF_WORKSPACE = {
  list: never('these rules belong to the workspace, not to a list'),
  type: oneOf(RULE_TYPES),
  label,
  after: after((given) => {
    const [, order, ruleRef] = PLACE.exec(given) ?? [];
    return ruleRef === undefined ? undefined : { order: order === undefined ? null : Number(order), ruleRef };
  }),
  limit,
};

const COMPLETE = perKind(KINDS, (kind): RulesVariant => ({ document: kind, type: null, label: null, page: null, name: '' }));

export function readRulesQuery(kind: Kind, query: string): RulesOptions | HttpFault {
  if (query === '') return { variant: COMPLETE[kind], list: null };
  const values = readParameters(isExpressionKind(kind) ? OF_WORKSPACE : OF_LISTS, query);
  if ('status' in values) return values as HttpFault;
  const { list = null, type = null, label: wanted = null, after: place = null, limit: most } = values;
  const page = place === null && most === undefined ? null : { after: place, limit: most ?? MOST };
  return { variant: variantOf({ document: kind, type, label: wanted, page }), list };
}

function variantOf(asked: Omit<RulesVariant, 'name'>): RulesVariant {
  const { document, type, label: wanted, page } = asked;
  if (type === null && wanted === null && page === null) return COMPLETE[document];
  return { ...asked, name: JSON.stringify([type, wanted, page]) };
}

/** `waf`, `smart-firewall`, `access`. */
export const pathOfKind = (kind: Kind): string => kind.replace(/_rule$/, '').replaceAll('_', '-');

export const calledRules = (kind: Kind): string => RULE_KINDS[kind].called;
