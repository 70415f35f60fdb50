/**
 * A deterministic automaton with states created on demand and cached up to a limit. A value with too many new states continues without
 * caching: each byte then costs some operations on the rows of bits, so the time is linear in the value for any pattern.
 */
import type { ByteString } from '../../bytes.ts';
import { type Follow, followOf, placesOf } from './follow.ts';
import { EDGE, holdsBetween, isLocal, type Neighbour, neighbourOf } from './look.ts';
import type { Program } from './program.ts';

const UNKNOWN = 0;
const ACCEPT = -1;
const REJECT = -2;

/** Cached states of one pattern. */
const MAX_CACHED_BYTES = 256 * 1024;
/** Limit per value. */
const NEW_STATES = 500;
/** Approximate size of a state without its row of the table and its bits, in bytes. */
const STATE_BYTES = 200;

/** Reached positions, and the previous byte. */
interface State {
  readonly reached: Int32Array;
  readonly before: Neighbour;
}

/** Assertions must be local. Throws `TooLarge`. */
export function lazyDfa(program: Program): (value: ByteString) => boolean {
  const assertions = program.assertions.filter(isLocal);
  const places = placesOf(program);
  const size = (places.length + 31) >>> 5;
  const { classOf, representatives } = byteClasses(program, assertions.length > 0);
  const end = representatives.length;
  const stride = end + 1;
  const neighbours: Neighbour[] = [...representatives.map(neighbourOf), EDGE];
  const masks = representatives.map((byte) => maskOf(program, places, byte));
  const none = new Int32Array(size);

  const follows = new Map<number, Follow>();
  const followAt = (before: Neighbour, after: Neighbour): Follow => {
    let holding = 0;
    assertions.forEach((assertion, i) => {
      if (holdsBetween(assertion, before, after)) holding |= 1 << i;
    });
    let follow = follows.get(holding);
    if (follow === undefined) {
      follow = followOf(program, places, holding);
      follows.set(holding, follow);
    }
    return follow;
  };
  // Refuses a pattern that is too large at compile time, not at some value. An anchored match can begin only at the start.
  const kinds = [...new Set(neighbours)];
  const later = kinds.filter((kind) => kind !== EDGE).flatMap((before) => kinds.map((after) => followAt(before, after)));
  for (const after of kinds) followAt(EDGE, after);
  const anchored = later.every(({ first, empty }) => !empty && first.every((word) => word === 0));

  const maxStates = Math.max(4, Math.floor(MAX_CACHED_BYTES / (stride * 4 + size * 4 + STATE_BYTES)));
  let states: State[] = [];
  let numbers = new Map<string, number>();
  let table = new Int32Array(stride * 4);
  const restart = () => {
    states = [];
    numbers = new Map();
    table.fill(UNKNOWN);
    numberOf(none, EDGE);
  };
  const numberOf = (reached: Int32Array, before: Neighbour): number => {
    const key = keyOf(reached, before);
    const known = numbers.get(key);
    if (known !== undefined) return known;
    const number = states.push({ reached: reached.slice(), before }) - 1;
    numbers.set(key, number);
    if (states.length * stride > table.length) {
      const larger = new Int32Array(table.length * 2);
      larger.set(table);
      table = larger;
    }
    return number;
  };
  restart();

  const scratch = new Int32Array(size);
  const kindBefore = (byteClass: number): Neighbour => (assertions.length === 0 ? EDGE : neighbours[byteClass]);
  /** Reads one byte of a class, or the end, into `scratch`; returns a decision if there is one. */
  const step = (reached: Int32Array, before: Neighbour, byteClass: number): typeof ACCEPT | typeof REJECT | typeof UNKNOWN => {
    const follow = followAt(before, neighbours[byteClass]);
    if (follow.empty || meets(reached, follow.ends)) return ACCEPT;
    if (byteClass === end) return REJECT;
    advance(reached, follow, masks[byteClass], scratch);
    return anchored && scratch.every((word) => word === 0) ? REJECT : UNKNOWN;
  };

  return (value) => {
    const { length } = value;
    let state = 0;
    let made = 0;
    let at = 0;
    for (;;) {
      // Local variables: the loop needs no check for new states.
      const cells = table;
      let byteClass = end;
      let next = UNKNOWN;
      for (; at < length; at++) {
        byteClass = classOf[value.charCodeAt(at)];
        next = cells[state * stride + byteClass];
        if (next <= UNKNOWN) break;
        state = next - 1;
      }
      if (at === length) {
        byteClass = end;
        next = cells[state * stride + end];
      }
      if (next < UNKNOWN) return next === ACCEPT;
      const { reached, before } = states[state];
      const decided = step(reached, before, byteClass);
      if (decided !== UNKNOWN) {
        table[state * stride + byteClass] = decided;
        return decided === ACCEPT;
      }
      if (made++ >= NEW_STATES) return readOn(value, at, reached, before);
      if (states.length >= maxStates) {
        const current = scratch.slice();
        restart();
        state = numberOf(current, kindBefore(byteClass));
      } else {
        const cell = state * stride + byteClass;
        state = numberOf(scratch, kindBefore(byteClass));
        table[cell] = state + 1;
      }
      at++;
    }
  };

  /** Continues without caching. */
  function readOn(value: ByteString, from: number, reached: Int32Array, before: Neighbour): boolean {
    const here = reached.slice();
    let last = before;
    for (let at = from; at <= value.length; at++) {
      const byteClass = at < value.length ? classOf[value.charCodeAt(at)] : end;
      const decided = step(here, last, byteClass);
      if (decided !== UNKNOWN) return decided === ACCEPT;
      here.set(scratch);
      last = kindBefore(byteClass);
    }
    return false;
  }
}

function meets(a: Int32Array, b: Int32Array): boolean {
  for (let i = 0; i < a.length; i++) if ((a[i] & b[i]) !== 0) return true;
  return false;
}

/** Positions reached by one byte, into `out`. */
function advance(reached: Int32Array, { shifts, jumps, first }: Follow, mask: Int32Array, out: Int32Array): void {
  out.set(first);
  for (const { by, sources } of shifts) shift(reached, sources, by, out);
  for (const { sources, targets } of jumps) {
    if (!meetsAt(reached, sources.words, sources.from)) continue;
    for (let i = 0; i < targets.words.length; i++) out[targets.from + i] |= targets.words[i];
  }
  for (let i = 0; i < out.length; i++) out[i] &= mask[i];
}

/** Adds the positions in `sources`, moved by `by`, to `out`. */
function shift(reached: Int32Array, sources: Int32Array, by: number, out: Int32Array): void {
  const words = by >> 5;
  const bits = by & 31;
  for (let i = 0; i < reached.length; i++) {
    const moved = reached[i] & sources[i];
    if (moved === 0) continue;
    out[i + words] |= moved << bits;
    // A shift by 32 would be a shift by 0. After the last word there is no position.
    if (bits !== 0 && i + words + 1 < out.length) out[i + words + 1] |= moved >>> (32 - bits);
  }
}

function meetsAt(row: Int32Array, words: Int32Array, from: number): boolean {
  for (let i = 0; i < words.length; i++) if ((row[from + i] & words[i]) !== 0) return true;
  return false;
}

/** Positions that this byte can reach. */
function maskOf({ sets, other }: Program, places: Int32Array, byte: number): Int32Array {
  const mask = new Int32Array((places.length + 31) >>> 5);
  places.forEach((state, place) => {
    if (sets[other[state]][byte] === 1) mask[place >>> 5] |= 1 << (place & 31);
  });
  return mask;
}

function keyOf(reached: Int32Array, before: Neighbour): string {
  let key = String.fromCharCode(before);
  for (const word of reached) key += String.fromCharCode(word & 0xffff, word >>> 16);
  return key;
}

/** Bytes that the automaton cannot distinguish, with a representative each. */
function byteClasses({ sets }: Program, looks: boolean): { readonly classOf: Uint8Array; readonly representatives: readonly number[] } {
  let classes = new Array<number>(256).fill(0);
  const refine = (of: (byte: number) => number) => {
    const pairs = new Map<number, number>();
    classes = classes.map((before, byte) => {
      const pair = before * 8 + of(byte);
      if (!pairs.has(pair)) pairs.set(pair, pairs.size);
      return pairs.get(pair)!;
    });
  };
  for (const set of sets) refine((byte) => set[byte]);
  if (looks) refine(neighbourOf);
  const representatives: number[] = [];
  classes.forEach((each, byte) => {
    representatives[each] ??= byte;
  });
  return { classOf: Uint8Array.from(classes), representatives };
}
