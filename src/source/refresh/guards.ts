/** What holds a refresh back (SPEC D23.16)? A row for each guard. */
import type { SourceGuards } from '../../account/source.ts';
import { addressFaults } from '../addresses.ts';
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
  /** Whether the source had a content before. */
  readonly hadContent: boolean;
}

/** So few may come to any list, or go from one that may be empty, without a question. */
const FEW = 100;

type Guard = (plan: SyncPlan, facts: ContentFacts, guards: SourceGuards) => string | false;

const entriesOf = ({ added, changed, unchanged, refused, failed }: SyncPlan) => added + changed + unchanged + refused + failed;
const isOver = (part: number, whole: number, percent: number) => part * 100 > whole * percent;

/** Whether a content is what the list has, as far as it can be taken. */
export const isSame = ({ added, changed, removed, unchanged }: SyncPlan, { hadContent }: ContentFacts): boolean =>
  added + changed + removed === 0 && (unchanged > 0 || hadContent);

/** What would be done to the list. A content that the list has already never waits for these (SPEC D44.12). */
const CHANGES: readonly Guard[] = [
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
  ({ addresses, present, added, removed }, _, { changePercent, mayBeEmpty }) =>
    addressFaults(addresses, { present, added, removed, percent: changePercent, mayLose: mayBeEmpty && removed <= FEW }).join('; ') ||
    false,
  (_plan, { wider: { count, first } }) => count > 0 && `${count} networks are wider than it may have, such as ${first}`,
  (_plan, { wide, broadBefore }) => wide !== undefined && !broadBefore && `whole countries or ASNs: ${wide}`,
];

/** What of the content the list cannot have. */
const CONTENT: readonly Guard[] = [
  (plan, _, { refusedPercent }) =>
    isOver(plan.refused, entriesOf(plan), refusedPercent) &&
    `guard rails refuse ${plan.refused} of ${entriesOf(plan)} entries, more than ${refusedPercent} %${example(plan, plan.failed === 0)}`,
  (plan, _, { faultsPercent }) =>
    isOver(plan.failed, entriesOf(plan), faultsPercent) &&
    `${plan.failed} of ${entriesOf(plan)} entries cannot be taken, more than ${faultsPercent} %${example(plan, plan.refused === 0)}`,
];

/** One of them, where all that is told are of one sort. */
const example = ({ faults: [first] }: SyncPlan, isOneSort: boolean) =>
  first !== undefined && isOneSort ? `: ${first.place}: ${first.message}` : '';

/** Why a refresh that does `plan` is held back, a sentence each; none: it is taken. */
export const guardFaults = (plan: SyncPlan, facts: ContentFacts, guards: SourceGuards): string[] =>
  [...(isSame(plan, facts) ? [] : CHANGES), ...CONTENT].map((guard) => guard(plan, facts, guards)).filter((fault) => fault !== false);
