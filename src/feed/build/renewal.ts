import type { RuleState } from '../../ports/rule-store.ts';
import type { StoreReads } from '../../ports/store.ts';
import type { Target } from '../../rule.ts';
import { actionOfTag, type RuleTable } from './rule-table.ts';
import type { Snapshot } from './snapshot.ts';

/**
 * Asks the store about the rules that expire at the second `through` or before (SPEC D5.14): about exactly these, all in one read. A
 * rule that was renewed there gets its new expiry. The others stay in the table: `content.ts` leaves them out, and the main thread
 * serves no build beyond its `servableUntil`. With `ask` undefined, or when the store does not answer, no rule is renewed.
 * `now` is the current second: rules that expire later than that are asked for again when their second has come.
 */
export async function renewDueRules(
  snapshot: Snapshot,
  through: number,
  now: number,
  ask: ((ids: readonly number[]) => ReturnType<StoreReads['ruleStates']>) | undefined,
): Promise<void> {
  // After the clock was set back, seconds that have passed once come again.
  snapshot.renewalsAskedThrough = Math.min(snapshot.renewalsAskedThrough, now);
  const due = dueRules(snapshot, through);
  if (due.length > 0 && ask !== undefined) {
    const states = await ask(due.map(({ table, row }) => table.ids[row])).catch((): RuleState[] => []);
    const byId = new Map(states.map((state) => [state.id, state]));
    for (const rule of due) {
      const state = byId.get(rule.table.ids[rule.row]);
      if (state !== undefined && isRenewal(snapshot, rule, state)) rule.table.expires[rule.row] = state.expires;
    }
  }
  snapshot.renewalsAskedThrough = Math.max(snapshot.renewalsAskedThrough, Math.min(through, now));
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
