/** Making a list equal to a file: which of its rules have to go (SPEC D11.4, D15.41). */
import { WeirError } from '../../errors.ts';
import type { StoreReads } from '../../ports/store.ts';
import type { AccessRule, Target } from '../../rule.ts';
import { formatTarget, writeTarget } from '../../signal/target.ts';
import { type ListAction, type ListEntry, signalOf } from '../../source/readers/entry.ts';
import type { FileSignal } from '../../source/readers/items.ts';

/** Seconds after which a rule lapses that cannot be deleted, because that would delete another one too: the shortest expiry. */
const SHORTEST = 60;

const identityOf = ({ action, target }: { readonly action: string; readonly target: Target }) => `${action} ${formatTarget(target)}`;

/** The active rules of a list, by action and target. */
interface PresentRules {
  /** Those without `rule_ref`. */
  readonly byValue: ReadonlyMap<string, AccessRule>;
  /** The others. */
  readonly byRef: ReadonlyMap<string, readonly AccessRule[]>;
}

/** What making a list equal to entries would do. */
export interface Replacement {
  /** Rules of the list that are known by their value, and those that it shall have. */
  readonly present: number;
  readonly wanted: number;
  /** The signals that take away the rules that are not wanted. */
  readonly removals: readonly FileSignal[];
  /** Rules with a `rule_ref` that no entry has: they stay as they are. */
  readonly staying: number;
  /** Whether the list would lose more than half of its rules: then somebody has to be sure. */
  readonly isLarge: boolean;
}

/**
 * Plans to make a list equal to entries that are sent at `now` (ms). It concerns the rules of their actions and of `action`, which stands
 * for entries that name none. Rejects with USAGE where an entry is no rule.
 */
export async function planReplacement(
  reads: Pick<StoreReads, 'rules'>,
  workspaceId: string,
  {
    listId,
    entries,
    action,
    now,
  }: { readonly listId: string; readonly entries: readonly ListEntry[]; readonly action: ListAction; readonly now: number },
): Promise<Replacement> {
  const actions = new Set([action, ...entries.map((entry) => entry.action)]);
  if (actions.has('unblock'))
    throw new WeirError('USAGE', 'a file that replaces a list holds the rules that it shall have, and unblock is none');
  const { byValue, byRef } = await presentRules(reads, workspaceId, { listId, actions, now });
  const wanted = new Set(entries.filter((entry) => entry.ruleRef === undefined && signalOf(entry, now) !== undefined).map(identityOf));
  const refs = new Set(entries.map(({ ruleRef }) => ruleRef));
  return {
    present: byValue.size,
    wanted: wanted.size,
    removals: [...byValue].filter(([identity]) => !wanted.has(identity)).map(([identity, rule]) => removal(rule, byRef.has(identity))),
    staying: [...byRef.values()].flat().filter(({ ruleRef }) => !refs.has(ruleRef ?? undefined)).length,
    isLarge: wanted.size * 2 < byValue.size,
  };
}

/** Why a large replacement is not done that nobody is sure of; `how` is how to say that one is. */
export const notSure = (list: string, { present, wanted }: Replacement, how: string): string =>
  `the list "${list}" has ${present} rules and the file ${wanted}: when that is meant, say so with ${how}`;

/** The rules of a list that are active at `now` (ms), of these actions. */
async function presentRules(
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

/** A delete by value takes rules with a `rule_ref` too (SPEC D3.11): beside one of those the rule is made to lapse instead. */
function removal({ action, target }: AccessRule, hasRef: boolean): FileSignal {
  const rule = { target: writeTarget(target), action };
  const envelope = { kind: 'access_rule', ...(hasRef ? { op: 'upsert', expires_in: SHORTEST } : { op: 'delete' }), rule };
  return { version: 2, json: Buffer.from(JSON.stringify(envelope)), place: formatTarget(target) };
}
