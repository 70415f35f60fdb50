import type { RuleState, StoredRule } from '../../ports/rule-store.ts';
import type { Kind, Target } from '../../rule.ts';
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
 * serves no build beyond its `servableUntil`. With `ask` undefined, or when the store does not answer, no rule is renewed.
 * `now` is the current second: rules that expire later than that are asked for again when their second has come.
 */
export async function renewDueRules(snapshot: Snapshot, through: number, now: number, ask: RenewalReads | undefined): Promise<void> {
  // After the clock was set back, seconds that have passed once come again.
  snapshot.renewalsAskedThrough = Math.min(snapshot.renewalsAskedThrough, now);
  const due = dueRules(snapshot, through);
  if (due.length > 0 && ask !== undefined) {
    const states = await ask.states(due.map(({ table, row }) => table.ids[row])).catch((): RuleState[] => []);
    const byId = new Map(states.map((state) => [state.id, state]));
    for (const rule of due) {
      const state = byId.get(rule.table.ids[rule.row]);
      if (state !== undefined && isRenewal(snapshot, rule, state)) rule.table.expires[rule.row] = state.expires;
    }
  }
  if (ask !== undefined) await renewStoredRules(snapshot, through, ask);
  snapshot.renewalsAskedThrough = Math.max(snapshot.renewalsAskedThrough, Math.min(through, now));
}

/** The same of whole rules: one that was renewed is replaced by what it is now. */
async function renewStoredRules(snapshot: Snapshot, through: number, ask: RenewalReads): Promise<void> {
  for (const [kind, { rules }] of snapshot.stored) {
    const due = rules.flatMap((rule, at) => {
      const expires = expiryOf(rule);
      return expires !== 0 && expires <= through && expires > snapshot.renewalsAskedThrough ? [{ at, id: rule.id, expires }] : [];
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
  readonly table: RuleTable;
  readonly row: number;
}

function dueRules(snapshot: Snapshot, through: number): DueRule[] {
  const due: DueRule[] = [];
  for (const table of [snapshot.v4, snapshot.v6, snapshot.geo]) {
    for (let row = 0; row < table.length; row++) {
      const expires = table.expires[row];
      if (expires !== 0 && expires <= through && expires > snapshot.renewalsAskedThrough) due.push({ table, row });
    }
  }
  return due;
}

/** Whether the store's state is that of the same rule, action and target too, with a later expiry. */
function isRenewal(snapshot: Snapshot, { table, row }: DueRule, state: RuleState): boolean {
  if (state.expires !== 0 && state.expires <= table.expires[row]) return false;
  return actionOfTag(table.tags[row]) === state.action && isTarget(snapshot, table, row, state.target);
}

function isTarget(snapshot: Snapshot, table: RuleTable, row: number, target: Target): boolean {
  if (target.kind !== 'ip') {
    const other = snapshot.geoTargets[row];
    if (table !== snapshot.geo || other.kind !== target.kind) return false;
    return target.kind === 'asn'
      ? other.kind === 'asn' && other.asn === target.asn
      : other.kind === 'country' && other.country === target.country;
  }
  const { network } = target;
  if (network.prefix !== table.prefixes[row]) return false;
  if (network.family === 4) return table === snapshot.v4 && table.words[row] === network.address;
  return table === snapshot.v6 && network.address.every((word, i) => table.words[row * 4 + i] === word);
}
