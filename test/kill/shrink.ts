/** Fewer steps that still break the same. */
import type { Round } from './plan.ts';

/** Runs do not pass equally: so often steps are tried before they count as harmless. */
const TRIES = 2;

type Piece = (rounds: readonly Round[]) => (readonly Round[])[];

/** The items without so many in a row: first half of them, then a quarter, and so on to a single one. */
export function lessOf<T>(items: readonly T[]): T[][] {
  const fewer: T[][] = [];
  for (let size = items.length; size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2))
    for (let from = items.length - size; from > -size; from -= size) fewer.push(items.filter((_, n) => n < from || n >= from + size));
  return fewer;
}

/** Ways to leave something out, the larger pieces first. What broke it is in the last round, so others go first. */
const PIECES: readonly Piece[] = [
  (rounds) => lessOf(rounds.slice(0, -1)).map((before) => [...before, ...rounds.slice(-1)]),
  (rounds) => inEach(rounds, (round) => lessOf(round.harms).map((harms) => ({ ...round, harms }))),
  (rounds) => inEach(rounds, (round) => lessOf(round.changes).map((changes) => ({ ...round, changes }))),
  (rounds) =>
    inEach(rounds, (round) =>
      Object.entries(round.acts).flatMap(([list, acts]) =>
        lessOf(acts).map((fewer) => ({ ...round, acts: { ...round.acts, [list]: fewer } })),
      ),
    ),
];

const inEach = (rounds: readonly Round[], fewer: (round: Round) => Round[]) =>
  rounds.flatMap((round, at) => fewer(round).map((each) => rounds.with(at, each))).reverse();

/** Which check was not met: where in the code it stands. */
export const faultOf = (error: unknown): string => {
  const frames = String((error as Error).stack)
    .split('\n')
    .slice(1);
  const places = frames.flatMap((frame) => /[\w-]+\.ts:\d+/.exec(frame)?.[0] ?? []);
  return places.find((place) => !place.startsWith('api.ts')) ?? '';
};

/**
 * Leaves out what can be left out; `run` rejects where something is broken. `fault`: what has to be broken (`faultOf`); undefined: what breaks
 * first.
 */
export async function shrink(
  rounds: readonly Round[],
  run: (rounds: readonly Round[]) => Promise<void>,
  report: (line: string) => void,
  fault?: string,
): Promise<readonly Round[]> {
  let wanted = fault;
  const isBroken = async (each: readonly Round[]) => {
    for (let tries = 0; tries < TRIES; tries += 1) {
      try {
        await run(each);
      } catch (error) {
        const found = faultOf(error);
        wanted ??= found;
        report(`${sizeOf(each)}: ${found === wanted ? '' : 'something else, '}${String(error).split('\n')[0]}`);
        if (found === wanted) return true;
      }
    }
    report(`${sizeOf(each)}: nothing is broken`);
    return false;
  };
  let least = rounds;
  if (!(await isBroken(rounds))) return rounds;
  for (const pieces of PIECES) {
    for (let before: typeof least | undefined; before !== least; ) {
      before = least;
      for (let at = 0; at < pieces(least).length; ) {
        const fewer = pieces(least)[at]!;
        if (lengthOf(fewer) < lengthOf(least) && (await isBroken(fewer))) least = fewer;
        else at += 1;
      }
    }
  }
  return least;
}

const lengthOf = (rounds: readonly Round[]) => JSON.stringify(rounds).length;
const sizeOf = (rounds: readonly Round[]) => {
  const count = (each: (round: Round) => number) => rounds.reduce((sum, round) => sum + each(round), 0);
  const acts = count((round) => Object.values(round.acts).flat().length);
  return `${rounds.length} rounds, ${count(({ harms }) => harms.length)} harms, ${count(({ changes }) => changes.length)} changes, ${acts} acts`;
};
