/** What holds a refresh back (SPEC D23.16)? A row for each guard. */
import type { SourceGuards } from '../../account/source.ts';
import type { SyncPlan } from '../sync.ts';

/** What was seen of a content besides its comparison. */
export interface ContentFacts {
  /** Networks that are wider than a source may bring, of those that no guard rail refuses; the first of them. */
  readonly wider: { readonly count: number; readonly first: string };
  /** Countries and ASNs, in words; undefined without any. */
  readonly wide: string | undefined;
  /** Whether somebody has taken countries and ASNs of this source before. */
  readonly broadBefore: boolean;
  /** Who undid the last refresh; undefined: it stands. */
  readonly undone: string | undefined;
}

/** So few may come to any list, or go from one that may be empty, without a question. */
const FEW = 100;

type Guard = (plan: SyncPlan, facts: ContentFacts, guards: SourceGuards) => string | false;

const entriesOf = ({ added, changed, unchanged, refused, failed }: SyncPlan) => added + changed + unchanged + refused + failed;
const isOver = (part: number, whole: number, percent: number) => part * 100 > whole * percent;

const GUARDS: readonly Guard[] = [
  (_plan, { undone }) => undone !== undefined && `the last refresh was undone ${undone}`,
  (plan, _, { mayBeEmpty }) => {
    const isEmpty = plan.added + plan.changed + plan.unchanged === 0;
    return isEmpty && !mayBeEmpty && 'it is empty: no entry of it can be taken';
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
  (plan, _, { refusedPercent }) =>
    isOver(plan.refused, entriesOf(plan), refusedPercent) &&
    `guard rails refuse ${plan.refused} of ${entriesOf(plan)} entries, more than ${refusedPercent} %${example(plan, plan.failed === 0)}`,
  (plan, _, { faultsPercent }) =>
    isOver(plan.failed, entriesOf(plan), faultsPercent) &&
    `${plan.failed} of ${entriesOf(plan)} entries cannot be taken, more than ${faultsPercent} %${example(plan, plan.refused === 0)}`,
  (_plan, { wider: { count, first } }) => count > 0 && `${count} networks are wider than it may have, such as ${first}`,
  (_plan, { wide, broadBefore }) => wide !== undefined && !broadBefore && `whole countries or ASNs: ${wide}`,
];

/** One of them, where all that is told are of one sort. */
const example = ({ faults: [first] }: SyncPlan, isOneSort: boolean) =>
  first !== undefined && isOneSort ? `: ${first.place}: ${first.message}` : '';

/** Why a refresh that does `plan` is held back, a sentence each; none: it is taken. */
export const guardFaults = (plan: SyncPlan, facts: ContentFacts, guards: SourceGuards): string[] =>
  GUARDS.map((guard) => guard(plan, facts, guards)).filter((fault) => fault !== false);
