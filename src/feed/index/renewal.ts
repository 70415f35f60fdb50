import type { RuleState, StoredRule } from '../../ports/stored/stored-rule.ts';
import type { Kind, Target } from '../../rule.ts';
import type { ListRules } from './active-rules.ts';
import { actionOfTag, type RuleTable } from './rule-table.ts';
import { expiryOf, type Snapshot } from './snapshot.ts';

/** Asks the store for rules of the workspace by their ids: for what renewal needs to know of them, or for whole rules. */
export interface RenewalReads {
  states(ids: readonly number[]): Promise<RuleState[]>;
  rules(kind: Kind, ids: readonly number[]): Promise<StoredRule[]>;
}

/**
 * Asks the store about the rules that expire at the second `through` or before (SPEC D5.14): about exactly these, all in one read. A
 * rule that was renewed there gets its new expiry. The others stay in the table: `content.ts` leaves them out, and the main thread
 * serves no build beyond its `nextExpiry`. With `ask` undefined, or when the store does not answer, no rule is renewed.
 * `now` is the current second: rules that expire later than that are asked for again when their second has come.
 */
export async function renewDueRules(snapshot: Snapshot, through: number, now: number, ask: RenewalReads | undefined): Promise<void> {
  const lists = snapshot.parts.map(({ rules }) => rules);
  // After the clock was set back, seconds that have passed once come again.
  for (const rules of lists) rules.renewalsAskedThrough = Math.min(rules.renewalsAskedThrough, now);
  const due = lists.flatMap((rules) => dueRules(rules, through));
  if (due.length > 0 && ask !== undefined) {
    const ids = due.map(({ table, row }) => table.ids[row]);
    const states = await ask.states([...new Set(ids)]).catch((): RuleState[] => []);
    const byId = new Map(states.map((state) => [state.id, state]));
    // The tables are others where another feed has read the list in the meantime.
    for (const rule of lists.flatMap((rules) => dueRules(rules, through))) {
      const state = byId.get(rule.table.ids[rule.row]);
      if (state !== undefined && isRenewal(rule, state)) rule.table.renew(rule.row, state.expires);
    }
  }
  if (ask !== undefined) await renewStoredRules(snapshot, through, ask);
  for (const rules of lists) rules.renewalsAskedThrough = Math.max(rules.renewalsAskedThrough, Math.min(through, now));
}

/** The same of whole rules: one that was renewed is replaced by what it is now. */
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

/** A rule whose second has come: a row of a table. */
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

/** Whether the store's state is that of the same rule, action and target too, with a later expiry. */
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
