/** Making a list equal to a file: which of its rules have to go (SPEC D11.4). */
import type { StoreReads } from '../../ports/store.ts';
import type { AccessRule, Target } from '../../rule.ts';
import { formatTarget, writeTarget } from '../../signal/target.ts';
import { type ListEntry, signalOf } from './entry.ts';
import type { FileSignal } from './items.ts';

/** Seconds after which a rule lapses that cannot be deleted, because that would delete another one too: the shortest expiry. */
const SHORTEST = 60;

const identityOf = ({ action, target }: { readonly action: string; readonly target: Target }) => `${action} ${formatTarget(target)}`;

/** The active rules of a list, by action and target. */
export interface PresentRules {
  /** Those without `rule_ref`. */
  readonly byValue: ReadonlyMap<string, AccessRule>;
  /** The others. */
  readonly byRef: ReadonlyMap<string, readonly AccessRule[]>;
}

/** The rules of a list that are active at `now` (ms), of these actions. */
export async function presentRules(
  reads: Pick<StoreReads, 'rules'>,
  workspaceId: string,
  { listId, actions, now }: { readonly listId: string; readonly actions: ReadonlySet<string>; readonly now: number },
): Promise<PresentRules> {
  const byValue = new Map<string, AccessRule>();
  const byRef = new Map<string, AccessRule[]>();
  for await (const stored of reads.rules(workspaceId, { kind: 'access_rule', listId, now })) {
    const rule = stored.rule as AccessRule;
    if (!actions.has(rule.action)) continue;
    if (rule.ruleRef === null) byValue.set(identityOf(rule), rule);
    else byRef.set(identityOf(rule), [...(byRef.get(identityOf(rule)) ?? []), rule]);
  }
  return { byValue, byRef };
}

/** What entries that are sent at `now` (ms) leave in the list as rules that are known by their value. */
export const wantedRules = (entries: readonly ListEntry[], now: number): ReadonlySet<string> =>
  new Set(entries.filter((entry) => entry.ruleRef === undefined && signalOf(entry, now) !== undefined).map(identityOf));

/** The signals that take away the rules without `rule_ref` that are not wanted. */
export const removals = ({ byValue, byRef }: PresentRules, wanted: ReadonlySet<string>): FileSignal[] =>
  [...byValue].filter(([identity]) => !wanted.has(identity)).map(([identity, rule]) => removal(rule, byRef.has(identity)));

/** A delete by value takes rules with a `rule_ref` too (SPEC D3.11): beside one of those the rule is made to lapse instead. */
function removal({ action, target }: AccessRule, hasRef: boolean): FileSignal {
  const rule = { target: writeTarget(target), action };
  const envelope = { kind: 'access_rule', ...(hasRef ? { op: 'upsert', expires_in: SHORTEST } : { op: 'delete' }), rule };
  return { version: 2, json: Buffer.from(JSON.stringify(envelope)), place: formatTarget(target) };
}
