/** Transitions under certain assertions: rows of bits, one bit per position. */
import { ASSERT, BYTES, MATCH, type Program, SPLIT, TooLarge } from './program.ts';

/** A row of bits; words before `from` are zero and omitted. */
export interface Bits {
  readonly from: number;
  readonly words: Int32Array;
}

/** Transitions of equal distance, from many positions. */
interface Shift {
  readonly by: number;
  readonly sources: Int32Array;
}

/** A transition from any of `sources` to all `targets`. */
interface Jump {
  readonly sources: Bits;
  readonly targets: Bits;
}

export interface Follow {
  readonly shifts: readonly Shift[];
  /** All other transitions. */
  readonly jumps: readonly Jump[];
  /** Positions at the end of a match. */
  readonly ends: Int32Array;
  /** Positions at the start of a match. */
  readonly first: Int32Array;
  /** Whether there is an empty match. */
  readonly empty: boolean;
}

const MAX_MOVES = 1 << 18;
/** Minimum positions of a shift, and maximum number of shifts. */
const MANY = 8;
const MAX_SHIFTS = 12;

/** The states that read a byte, in the order of the pattern: most transitions lead to the next position. */
export function placesOf(program: Program): Int32Array {
  const places: number[] = [];
  for (let state = program.kinds.length - 1; state >= 0; state--) if (program.kinds[state] === BYTES) places.push(state);
  return Int32Array.from(places);
}

/** Transitions under the assertions in `holding` (bits). Throws `TooLarge`. */
export function followOf(program: Program, places: Int32Array, holding: number): Follow {
  const size = (places.length + 31) >>> 5;
  const placeOf = new Int32Array(program.kinds.length);
  places.forEach((state, place) => {
    placeOf[state] = place;
  });
  const closure = closures(program, placeOf, holding);
  const ends = new Int32Array(size);
  const moves: (readonly number[])[] = [];
  let count = 0;
  places.forEach((state, place) => {
    const { targets, match } = closure(program.next[state]);
    if (match) set(ends, place);
    moves.push(targets);
    count += targets.length;
    if (count > MAX_MOVES) throw new TooLarge();
  });
  const begin = closure(program.start);
  const first = new Int32Array(size);
  for (const place of begin.targets) set(first, place);
  return { ...divide(moves, size), ends, first, empty: begin.match };
}

/** Divides transitions into shifts, for frequent distances, and jumps. */
function divide(moves: readonly (readonly number[])[], size: number): Pick<Follow, 'shifts' | 'jumps'> {
  const counts = new Map<number, number>();
  moves.forEach((targets, place) => {
    for (const target of targets) counts.set(target - place, (counts.get(target - place) ?? 0) + 1);
  });
  const distances = [...counts].filter(([by, count]) => by === 1 || count >= MANY).sort((a, b) => b[1] - a[1]);
  const shifts = new Map(distances.slice(0, MAX_SHIFTS).map(([by]) => [by, new Int32Array(size)]));
  const groups = new Map<string, { sources: number[]; targets: readonly number[] }>();
  moves.forEach((targets, place) => {
    const rest: number[] = [];
    for (const target of targets) {
      const sources = shifts.get(target - place);
      if (sources === undefined) rest.push(target);
      else set(sources, place);
    }
    if (rest.length === 0) return;
    const key = rest.join();
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { sources: [place], targets: rest });
    else group.sources.push(place);
  });
  return {
    shifts: Array.from(shifts, ([by, sources]) => ({ by, sources })),
    jumps: Array.from(groups.values(), ({ sources, targets }) => ({ sources: bits(sources), targets: bits(targets) })),
  };
}

/** Positions reachable without reading, in ascending order; and whether the end is reachable. */
function closures(program: Program, placeOf: Int32Array, holding: number) {
  const { kinds, next, other } = program;
  const known = new Map<number, { readonly targets: readonly number[]; readonly match: boolean }>();
  const seen = new Int32Array(kinds.length).fill(-1);
  return (start: number) => {
    const before = known.get(start);
    if (before !== undefined) return before;
    const targets: number[] = [];
    let match = false;
    const stack = [start];
    for (let state = stack.pop(); state !== undefined; state = stack.pop()) {
      if (seen[state] === start) continue;
      seen[state] = start;
      if (kinds[state] === MATCH) match = true;
      else if (kinds[state] === BYTES) targets.push(placeOf[state]);
      else if (kinds[state] === SPLIT) stack.push(next[state], other[state]);
      else if (kinds[state] === ASSERT && (holding & (1 << other[state])) !== 0) stack.push(next[state]);
    }
    const found = { targets: targets.sort((a, b) => a - b), match };
    known.set(start, found);
    return found;
  };
}

const set = (row: Int32Array, place: number) => {
  row[place >>> 5] |= 1 << (place & 31);
};

/** Expects positions in ascending order. */
function bits(places: readonly number[]): Bits {
  const from = places[0] >>> 5;
  const words = new Int32Array((places[places.length - 1] >>> 5) - from + 1);
  for (const place of places) words[(place >>> 5) - from] |= 1 << (place & 31);
  return { from, words };
}
