/** Guards putting a refresh on hold (SPEC D23.16). */
import type { SourceGuards } from '../../account/source.ts';
import { addressFaults } from '../addresses.ts';
import type { SyncPlan } from '../sync.ts';

export interface ContentFacts {
  readonly wider: { readonly count: number; readonly first: string };
  readonly wide: string | undefined;
  /** Countries and ASNs were accepted earlier. */
  readonly broadBefore: boolean;
  /** undefined: not undone. */
  readonly undone: string | undefined;
  readonly hadContent: boolean;
}

/** Changes allowed without confirmation: additions, or removals if the list may be empty. */
const FEW = 100;

type Guard = (plan: SyncPlan, facts: ContentFacts, guards: SourceGuards) => string | false;

const entriesOf = ({ added, changed, unchanged, refused, failed }: SyncPlan) => added + changed + unchanged + refused + failed;
const isOver = (part: number, total: number, percent: number) => part * 100 > total * percent;

export const isSame = ({ added, changed, removed, unchanged }: SyncPlan, { hadContent }: ContentFacts): boolean =>
  added + changed + removed === 0 && (unchanged > 0 || hadContent);

/** Guards not needed for unchanged content (SPEC D44.12). */
const CHANGES: readonly Guard[] = [
  (_plan, { undone }) => undone !== undefined && `the last refresh was undone ${undone}`,
  (plan, _, { mayBeEmpty }) => {
    const isEmpty = plan.added + plan.changed + plan.unchanged === 0;
    return isEmpty && !mayBeEmpty && 'it is empty: it has no usable entry';
  },
  ({ removed, present }, _, { changePercent, mayBeEmpty }) =>
    isOver(removed, present, changePercent) &&
    !(mayBeEmpty && removed <= FEW) &&
    `${removed} of ${present} entries would be removed, more than ${changePercent} %`,
  ({ added, present }, _, { changePercent }) =>
    present > 0 &&
    added > FEW &&
    isOver(added, present, changePercent) &&
    `${added} would be added to the ${present} that there are, more than ${changePercent} %`,
  ({ addresses, present, added, removed }, _, { changePercent, mayBeEmpty }) =>
    addressFaults(addresses, { present, added, removed, percent: changePercent, mayLose: mayBeEmpty && removed <= FEW }).join('; ') ||
    false,
  (_plan, { wider: { count, first } }) => count > 0 && `${count} networks are wider than it may have, such as ${first}`,
  (_plan, { wide, broadBefore }) => wide !== undefined && !broadBefore && `whole countries or ASNs: ${wide}`,
];

const CONTENT: readonly Guard[] = [
  (plan, _, { refusedPercent }) =>
    isOver(plan.refused, entriesOf(plan), refusedPercent) &&
    `guard rails refuse ${plan.refused} of ${entriesOf(plan)} entries, more than ${refusedPercent} %${example(plan, plan.failed === 0)}`,
  (plan, _, { faultsPercent }) =>
    isOver(plan.failed, entriesOf(plan), faultsPercent) &&
    `${plan.failed} of ${entriesOf(plan)} entries cannot be used, more than ${faultsPercent} %${example(plan, plan.refused === 0)}`,
];

const example = ({ faults: [first] }: SyncPlan, isOneSort: boolean) =>
  first !== undefined && isOneSort ? `: ${first.place}: ${first.message}` : '';

/** One sentence each; empty: apply it. */
export const guardFaults = (plan: SyncPlan, facts: ContentFacts, guards: SourceGuards): string[] =>
  [...(isSame(plan, facts) ? [] : CHANGES), ...CONTENT].map((guard) => guard(plan, facts, guards)).filter((fault) => fault !== false);
