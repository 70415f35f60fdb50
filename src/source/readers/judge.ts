/** Verdict, target type, and marks of non-enforcement (SPEC D40.3, D40.8). */
import type { Target } from '../../rule.ts';
import type { Column, Role } from './columns.ts';
import { cellFault, isGiven, quoted, type Row, textOf } from './row.ts';
import { lastSortOf, type Sort, sortOf } from './sorts.ts';
import { clearVerdictOf, isEnd, LIST_ACTIONS, type ListAction, listVerdictOf, type Verdict, verdictOf } from './verdict.ts';

/** The action (weir's own exports), the type, or why it is skipped. */
export interface Judged {
  readonly action?: ListAction;
  readonly sorts?: readonly Sort[];
  readonly passed?: string | undefined;
}

interface JudgedCell {
  readonly column: Column;
  readonly text: string;
  readonly row: Row;
  readonly asked: ListAction;
}

const JUDGES: Readonly<Partial<Record<Role, (cell: JudgedCell) => Judged | undefined>>> = {
  detection: (cell) => ((booleanOf(cell) ?? unknown(cell, 'is neither 1 nor 0')) ? undefined : { passed: 'to_ids is 0: no detection' }),
  simulated: (cell) => ((booleanOf(cell) ?? unknown(cell, 'is neither 1 nor 0')) ? { passed: 'simulated' } : undefined),
  deleted: (cell) => (booleanOf(cell) === true ? { passed: cell.column.base } : undefined),
  enforced: (cell) => (booleanOf(cell) === false ? { passed: `not ${cell.column.base}` } : undefined),
  allowed: (cell) => (booleanOf(cell) === true ? ofVerdict(cell, 'allow', cell.column.name) : undefined),
  blocked: ofFlag,
  action: (cell) => ownAction(cell) ?? ofEnd(cell) ?? ofVerdict(cell, verdictOf(cell.text) ?? unknown(cell, NO_VERDICT)),
  verdict: (cell) => ofEnd(cell) ?? ofVerdict(cell, verdictOf(cell.text) ?? unknown(cell, NO_VERDICT)),
  status: (cell) => ofEnd(cell) ?? ofVerdict(cell, clearVerdictOf(cell.text)),
  aside: (cell) => ofVerdict(cell, clearVerdictOf(cell.text)),
  // iptables has its verdicts in `target`.
  unknown: (cell) => ofVerdict(cell, cell.column.base === 'target' ? clearVerdictOf(cell.text) : listVerdictOf(cell.text)),
  type: (cell) => ofSort(cell, lastSortOf(cell.text) ?? unknown(cell, 'is no known type of an indicator')),
  sort: (cell) =>
    ofSort(cell, sortOf(cell.text) ?? (isOfMisp(cell.row) ? 'other' : undefined)) ?? ofVerdict(cell, clearVerdictOf(cell.text)),
};
/** Decisive also in an enclosing object. */
export const JUDGED: ReadonlySet<Role> = new Set([
  'detection',
  'simulated',
  'deleted',
  'enforced',
  'allowed',
  'blocked',
  'action',
  'verdict',
  'status',
]);
/** Longer texts are not verdicts. */
const LONGEST_VERDICT = 20;
const NO_VERDICT = `is no known verdict, such as ${LIST_ACTIONS.join(', ')}`;

/** Throws USAGE for an essential but unknown cell. */
export function judge(row: Row, asked: ListAction): Judged {
  let action = asked;
  const sorts: Sort[] = [];
  for (const [column, value] of row) {
    // Fast path for wide tables.
    if (column.role === 'unknown' && (typeof value !== 'string' || value.length > LONGEST_VERDICT)) continue;
    const read = JUDGES[column.role];
    const text = read !== undefined && isGiven(value) ? textOf(value) : '';
    const judged = /^-*$/.test(text) ? undefined : read?.({ column, text, row, asked });
    if (judged?.passed !== undefined) return judged;
    if (judged?.action !== undefined) action = judged.action;
    sorts.push(...(judged?.sorts ?? []));
  }
  return { action, sorts };
}

export function requireSorts(sorts: readonly Sort[], targets: readonly Target[]): void {
  for (const sort of sorts)
    if (targets.some((target) => sort !== target.kind && !(target.kind === 'ip' && sort === target.network.family)))
      throw cellFault('type', `the type is ${typeof sort === 'number' ? `IPv${sort}` : sort}, and the target is another`);
}

function unknown({ column, text }: JudgedCell, why: string): never {
  throw cellFault(column.base, `${quoted(text)} in "${column.name}" ${why}`);
}

const booleanOf = ({ text }: JudgedCell): boolean | undefined => BOOLEANS[text.toLowerCase()];
const BOOLEANS: Readonly<Record<string, boolean | undefined>> = {
  ...Object.fromEntries(['1', 'true', 'yes', 'on', 't', 'y'].map((text) => [text, true])),
  ...Object.fromEntries(['0', 'false', 'no', 'off', 'f', 'n'].map((text) => [text, false])),
};

const isOfMisp = (row: Row): boolean => row.some(([{ role }, value]) => role === 'detection' && isGiven(value));

const ofSort = ({ text }: JudgedCell, sort: Sort | undefined): Judged | undefined =>
  sort === 'other' ? { passed: `the type ${text.slice(0, 40)} is no address` } : sort && { sorts: [sort] };

/** Further columns of `weir rule export` and similar files; other columns indicate another program. */
const OWN: ReadonlySet<Role> = new Set([
  'action',
  'instant',
  'lifetime',
  'expiry',
  'reason',
  'labels',
  'config',
  'confidence',
  'severity',
  'ref',
  'name',
] as const);

/** Columns `value` and `action`: imported as exported. */
function ownAction({ text, row }: JudgedCell): Judged | undefined {
  const action = LIST_ACTIONS.find((each) => each === text.toLowerCase());
  const isOwn =
    row.some(([{ base }, value]) => base === 'value' && isGiven(value)) &&
    row.every(([{ base, role }]) => base === 'value' || OWN.has(role));
  return action !== undefined && isOwn ? { action } : undefined;
}

function ofFlag(cell: JudgedCell): Judged | undefined {
  const isBlocked = booleanOf(cell);
  if (isBlocked === undefined) return undefined;
  return isBlocked ? ofVerdict(cell, 'block', cell.column.name) : ofVerdict(cell, 'allow', `not ${cell.column.base}`);
}

const ofEnd = ({ column, text }: JudgedCell): Judged | undefined =>
  isEnd(text) ? { passed: `${column.base} is ${text.toLowerCase()}` } : undefined;

const ofVerdict = ({ text, asked }: JudgedCell, verdict: Verdict | undefined, word = text): Judged | undefined =>
  verdict === undefined || verdict === asked
    ? undefined
    : { passed: `its verdict is ${word.toLowerCase().slice(0, 40)}, and the import is for ${asked}` };
