/** Fewer steps that still break something. */
import type { Round } from './plan.ts';

/** Runs do not pass equally: so often steps are tried before they count as harmless. */
const TRIES = 2;

type Piece = (rounds: readonly Round[]) => (readonly Round[])[];

const without = <T>(items: readonly T[], at: number): T[] => items.filter((_, n) => n !== at);

/** Ways to leave something out, the larger pieces first. */
const PIECES: readonly Piece[] = [
  (rounds) => [rounds.slice(-1), rounds.slice(Math.floor(rounds.length / 2)), ...rounds.map((_, at) => without(rounds, at))],
  (rounds) => inEach(rounds, (round) => round.harms.map((_, at) => ({ ...round, harms: without(round.harms, at) }))),
  (rounds) => inEach(rounds, (round) => [...(round.changes.length > 0 ? [{ ...round, changes: [] }] : []), ...lists(round, () => [])]),
  (rounds) =>
    inEach(rounds, (round) =>
      Object.values(round.acts).flatMap((acts) => acts.flatMap((_, at) => lists(round, (each) => without(each, at)))),
    ),
];

const inEach = (rounds: readonly Round[], fewer: (round: Round) => Round[]) =>
  rounds.flatMap((round, at) => fewer(round).map((each) => rounds.with(at, each)));

const lists = (round: Round, change: (acts: Round['acts'][string]) => Round['acts'][string]): Round[] =>
  Object.entries(round.acts)
    .map(([list, acts]) => ({ ...round, acts: { ...round.acts, [list]: change(acts) } }))
    .filter((each) => JSON.stringify(each) !== JSON.stringify(round));

/** Leaves out what can be left out; `run` rejects where something is broken. */
export async function shrink(
  rounds: readonly Round[],
  run: (rounds: readonly Round[]) => Promise<void>,
  report: (line: string) => void,
): Promise<readonly Round[]> {
  const isBroken = async (each: readonly Round[]) => {
    for (let tries = 0; tries < TRIES; tries += 1) {
      try {
        await run(each);
      } catch (error) {
        report(`${each.length} rounds: ${String(error).split('\n')[0]}`);
        return true;
      }
    }
    return false;
  };
  let least = rounds;
  for (const pieces of PIECES) {
    for (let goesOn = true; goesOn; ) {
      goesOn = false;
      for (const fewer of pieces(least)) {
        if (fewer.length === 0 || fewer.length + JSON.stringify(fewer).length >= least.length + JSON.stringify(least).length) continue;
        if (!(await isBroken(fewer))) continue;
        [least, goesOn] = [fewer, true];
        break;
      }
    }
  }
  return least;
}
