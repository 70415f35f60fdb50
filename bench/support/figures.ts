/** Figures against their limits: a table for people, JSON for `npm run test:hold`. */
import { type Cell, printTable } from './load.ts';

/**
 * One figure; `limit` is what it may be at most, with `least` what it has to be at least. The limits of times are those of an idle machine:
 * `machine` is what this one added at the same time, such as how long a bare server took (`machine.ts`), and is allowed on top.
 */
export interface Figure {
  readonly what: string;
  readonly figure: number;
  readonly limit: number;
  readonly least?: true;
  readonly machine?: number;
}

export const holds = ({ figure, limit, least, machine = 0 }: Figure): boolean => (least ? figure >= limit : figure <= limit + machine);

/** The limit as people read it. */
export const limitText = ({ limit, least, machine }: Figure): string =>
  `${least ? '≥' : '≤'} ${limit}${machine === undefined ? '' : `, and ${machine.toFixed(1)} of the machine`}`;

/** Whether the command line of this process asks for JSON. */
const asJson = () => process.argv.includes('--json');

/** Prints the rows (the first is the heading), or with `--json` the figures on one line; a missed limit makes the exit code 1. */
export function report(rows: readonly (readonly Cell[])[], figures: readonly Figure[]): void {
  if (asJson()) console.log(JSON.stringify(figures));
  else printTable(rows);
  const missed = figures.filter((figure) => !holds(figure));
  for (const each of missed) console.error(`missed: ${each.what}: ${each.figure}, limit ${limitText(each)}`);
  if (missed.length > 0) process.exitCode = 1;
}
