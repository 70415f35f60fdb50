/** What signals would change of the access rules of a list, found as landing finds it (SPEC D3.10, D3.11), but in memory. */
import type { NamedRule } from '../../ports/rule-store.ts';
import type { AccessRule } from '../../rule.ts';
import { formatTarget } from '../../signal/target.ts';
import type { AccessChange } from '../access-change.ts';

/** The rules that would go or be replaced, and those that would come. */
export interface Overlay {
  readonly removed: readonly NamedRule[];
  readonly added: readonly AccessRule[];
}

/** What a store has to be asked for: the rules that these changes name. */
export function namesOf(changes: readonly AccessChange[]): { refs: string[]; targets: string[] } {
  const [refs, targets] = [new Set<string>(), new Set<string>()];
  for (const change of changes) {
    if (change.change === 'delete') refs.add(change.ruleRef);
    else if (change.change === 'delete_by_value') targets.add(formatTarget(change.target));
    else if (change.rule.ruleRef === null) targets.add(formatTarget(change.rule.target));
    else refs.add(change.rule.ruleRef);
  }
  return { refs: [...refs], targets: [...targets] };
}

/** A rule as it is after the changes so far: `rule` where they wrote it. */
interface Present extends Omit<NamedRule, 'id'> {
  readonly rule: AccessRule | undefined;
}

/** What the changes leave of the stored rules that they name. */
export function overlayOf(stored: readonly NamedRule[], changes: readonly AccessChange[]): Overlay {
  const byRef = new Map<string, Present>();
  const byValue = new Map<string, Set<Present>>();
  const add = (present: Present) => {
    if (present.ruleRef !== null) byRef.set(present.ruleRef, present);
    const identity = identityOf(present);
    byValue.set(identity, (byValue.get(identity) ?? new Set()).add(present));
  };
  const remove = (present: Present | undefined) => {
    if (present === undefined) return;
    byValue.get(identityOf(present))?.delete(present);
    if (present.ruleRef !== null) byRef.delete(present.ruleRef);
  };
  const originals = new Map(stored.map((named) => [{ ...named, rule: undefined } as Present, named]));
  for (const present of originals.keys()) add(present);

  for (const change of changes) {
    if (change.change === 'delete') remove(byRef.get(change.ruleRef));
    else if (change.change === 'delete_by_value')
      for (const present of [...(byValue.get(identityOf({ action: change.action, target: formatTarget(change.target) })) ?? [])])
        remove(present);
    else {
      const { rule } = change;
      const present = { ruleRef: rule.ruleRef, action: rule.action, target: formatTarget(rule.target), rule };
      const same = [...(byValue.get(identityOf(present)) ?? [])].find(({ ruleRef }) => ruleRef === null);
      remove(rule.ruleRef === null ? same : byRef.get(rule.ruleRef));
      add(present);
    }
  }
  const left = new Set([...byValue.values()].flatMap((each) => [...each]));
  return {
    removed: [...originals].filter(([present]) => !left.has(present)).map(([, named]) => named),
    added: [...left].flatMap(({ rule }) => (rule === undefined ? [] : [rule])),
  };
}

const identityOf = ({ action, target }: Pick<NamedRule, 'action' | 'target'>) => `${action} ${target}`;
