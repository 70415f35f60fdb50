/** Figures against their limits: a table for people, JSON for `npm run test:hold`. */
import { printTable } from './load.ts';

/** One figure; `limit` is what it may be at most, with `least` what it has to be at least. */
export interface Figure {
  readonly what: string;
  readonly figure: number;
  readonly limit: number;
  readonly least?: true;
}

export const holds = ({ figure, limit, least }: Figure): boolean => (least ? figure >= limit : figure <= limit);

/** Whether the command line of this process asks for JSON. */
const asJson = () => process.argv.includes('--json');

/** Prints the rows (the first is the heading), or with `--json` the figures on one line; a missed limit makes the exit code 1. */
export function report(rows: readonly (readonly (string | number)[])[], figures: readonly Figure[]): void {
  if (asJson()) console.log(JSON.stringify(figures));
  else printTable(rows);
  const missed = figures.filter((figure) => !holds(figure));
  for (const { what, figure, limit, least } of missed) console.error(`missed: ${what}: ${figure}, limit ${least ? '≥' : '≤'} ${limit}`);
  if (missed.length > 0) process.exitCode = 1;
}
