/** Applies signals to a list's access rules like landing does (SPEC D3.10, D3.11), in memory. */
import type { NamedRule } from '../../ports/stored/rule-store.ts';
import type { AccessRule } from '../../rule.ts';
import { namedBy } from '../../signal/named-rules.ts';
import { formatTarget } from '../../signal/target.ts';
import type { AccessChange } from '../access-change.ts';

export interface Overlay {
  readonly removed: readonly NamedRule[];
  readonly added: readonly AccessRule[];
}

/** The rule references and targets to read from the store. */
export function namesOf(changes: readonly AccessChange[]): { refs: string[]; targets: string[] } {
  const [refs, targets] = [new Set<string>(), new Set<string>()];
  for (const named of changes.map(namedBy)) {
    if (named.by === 'ref') refs.add(named.ruleRef);
    else targets.add(named.target);
  }
  return { refs: [...refs], targets: [...targets] };
}

interface Present extends Omit<NamedRule, 'id'> {
  readonly rule: AccessRule | undefined;
}

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
    const named = namedBy(change);
    if (named.by === 'ref') remove(byRef.get(named.ruleRef));
    else for (const present of [...(byValue.get(identityOf(named)) ?? [])]) if (named.withRefs || present.ruleRef === null) remove(present);
    if (change.change !== 'upsert') continue;
    const { rule } = change;
    add({ ruleRef: rule.ruleRef, action: rule.action, target: formatTarget(rule.target), rule });
  }
  const left = new Set([...byValue.values()].flatMap((each) => [...each]));
  return {
    removed: [...originals].filter(([present]) => !left.has(present)).map(([, named]) => named),
    added: [...left].flatMap(({ rule }) => (rule === undefined ? [] : [rule])),
  };
}

const identityOf = ({ action, target }: Pick<NamedRule, 'action' | 'target'>) => `${action} ${target}`;
