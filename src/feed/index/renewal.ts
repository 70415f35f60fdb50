import type { RuleState, StoredRule } from '../../ports/stored/stored-rule.ts';
import type { Kind, Target } from '../../rule.ts';
import type { ListRules } from './active-rules.ts';
import { actionOfTag, type RuleTable } from './rule-table.ts';
import { expiryOf, type Snapshot } from './snapshot.ts';

export interface RenewalReads {
  states(ids: readonly number[]): Promise<RuleState[]>;
  rules(kind: Kind, ids: readonly number[]): Promise<StoredRule[]>;
}

/**
 * Checks the rules expiring at `through` or before against the store in one read (SPEC D5.14), and applies renewed expiries. Without `ask`,
 * or if the store does not answer, nothing is renewed. `now` (whole seconds): later expiries are checked again at their time.
 */
export async function renewDueRules(snapshot: Snapshot, through: number, now: number, ask: RenewalReads | undefined): Promise<void> {
  const lists = snapshot.parts.map(({ rules }) => rules);
  // After the clock was set back, past seconds recur.
  for (const rules of lists) rules.renewalsAskedThrough = Math.min(rules.renewalsAskedThrough, now);
  const due = lists.flatMap((rules) => dueRules(rules, through));
  if (due.length > 0 && ask !== undefined) {
    const ids = due.map(({ table, row }) => table.ids[row]);
    const states = await ask.states([...new Set(ids)]).catch((): RuleState[] => []);
    const byId = new Map(states.map((state) => [state.id, state]));
    // Another feed's read may have replaced the tables meanwhile.
    for (const rule of lists.flatMap((rules) => dueRules(rules, through))) {
      const state = byId.get(rule.table.ids[rule.row]);
      if (state !== undefined && isRenewal(rule, state)) rule.table.renew(rule.row, state.expires);
    }
  }
  if (ask !== undefined) await renewStoredRules(snapshot, through, ask);
  for (const rules of lists) rules.renewalsAskedThrough = Math.max(rules.renewalsAskedThrough, Math.min(through, now));
}

/** A renewed rule is replaced. */
async function renewStoredRules({ stored, parts }: Snapshot, through: number, ask: RenewalReads): Promise<void> {
  const askedThrough = Math.min(...parts.map(({ rules }) => rules.renewalsAskedThrough));
  for (const [kind, { rules }] of stored) {
    const due = rules.flatMap((rule, at) => {
      const expires = expiryOf(rule);
      return expires !== 0 && expires <= through && expires > askedThrough ? [{ at, id: rule.id, expires }] : [];
    });
    if (due.length === 0) continue;
    const states = await ask
      .rules(
        kind,
        due.map(({ id }) => id),
      )
      .catch((): StoredRule[] => []);
    const byId = new Map(states.map((state) => [state.id, state]));
    for (const { at, id, expires } of due) {
      const state = byId.get(id);
      if (state !== undefined && (expiryOf(state) === 0 || expiryOf(state) > expires)) rules[at] = state;
    }
  }
}

interface DueRule {
  readonly rules: ListRules;
  readonly table: RuleTable;
  readonly row: number;
}

function dueRules(rules: ListRules, through: number): DueRule[] {
  const due: DueRule[] = [];
  for (const table of [rules.v4, rules.v6, rules.geo]) {
    if (!table.mayExpire(through)) continue;
    for (let row = 0; row < table.length; row++) {
      const expires = table.expires[row];
      if (expires !== 0 && expires <= through && expires > rules.renewalsAskedThrough) due.push({ rules, table, row });
    }
  }
  return due;
}

/** The same rule, action and target, with a later expiry. */
function isRenewal({ rules, table, row }: DueRule, state: RuleState): boolean {
  if (state.expires !== 0 && state.expires <= table.expires[row]) return false;
  return actionOfTag(table.tags[row]) === state.action && isTarget(rules, table, row, state.target);
}

function isTarget(rules: ListRules, table: RuleTable, row: number, target: Target): boolean {
  if (target.kind !== 'ip') {
    const other = rules.geoTargets[row];
    if (table !== rules.geo || other.kind !== target.kind) return false;
    return target.kind === 'asn'
      ? other.kind === 'asn' && other.asn === target.asn
      : other.kind === 'country' && other.country === target.country;
  }
  const { network } = target;
  if (network.prefix !== table.prefixes[row]) return false;
  if (network.family === 4) return table === rules.v4 && table.words[row] === network.address;
  return table === rules.v6 && network.address.every((word, i) => table.words[row * 4 + i] === word);
}
