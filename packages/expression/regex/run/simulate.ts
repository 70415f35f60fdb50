/** Runs state by state: for any pattern, in time linear in the value times the automaton. */
import type { ByteString } from '../../bytes.ts';
import { holdsAt } from './look.ts';
import { ASSERT, BYTES, MATCH, type Program, SPLIT } from './program.ts';

/** Whether the value has a match. */
export function simulate(program: Program, value: ByteString): boolean {
  const { kinds, next, other, start, sets, assertions } = program;
  const seen = new Int32Array(kinds.length).fill(-1);
  let reached: number[] = [];
  for (let at = 0; ; at++) {
    const stack = reached;
    stack.push(start);
    const here: number[] = [];
    for (let state = stack.pop(); state !== undefined; state = stack.pop()) {
      if (seen[state] === at) continue;
      seen[state] = at;
      if (kinds[state] === MATCH) return true;
      if (kinds[state] === BYTES) here.push(state);
      else if (kinds[state] === SPLIT) stack.push(next[state], other[state]);
      else if (kinds[state] === ASSERT && holdsAt(assertions[other[state]], value, at)) stack.push(next[state]);
    }
    if (at >= value.length) return false;
    const byte = value.charCodeAt(at);
    reached = [];
    for (const state of here) if (sets[other[state]][byte] === 1) reached.push(next[state]);
  }
}
