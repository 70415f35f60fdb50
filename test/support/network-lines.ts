import { explainFault } from '@weir/network/faults.ts';
import type { V4Ranges, V6Ranges } from '@weir/network/ranges.ts';
import { newReading, readNetwork, textOf } from '@weir/network/read.ts';

const LINE_FEED = 0x0a;

/** What is wrong with one line of a text; lines count from 1. */
interface LineFault {
  readonly line: number;
  readonly fault: string;
}

/** Reads a text of one network a line, as `parseNetwork` would each; empty lines are skipped. Stops at the first fault. */
export function readLines(bytes: Uint8Array, v4: V4Ranges, v6: V6Ranges): LineFault | null {
  const text = textOf(bytes);
  let line = 1;
  for (let at = 0; at < bytes.length; line++) {
    const next = readLine(text, bytes, at, v4, v6);
    if (typeof next === 'string') return { line, fault: next };
    at = next;
  }
  return null;
}

const reading = newReading();

/** Reads one line. Returns the position of the next one, or what is wrong, in words. */
function readLine(text: DataView, bytes: Uint8Array, at: number, v4: V4Ranges, v6: V6Ranges): number | string {
  if (bytes[at] === LINE_FEED) return at + 1;
  const next = readNetwork(text, at, bytes.length, reading);
  if (typeof next === 'string' || (next < bytes.length && bytes[next] !== LINE_FEED)) {
    const end = bytes.indexOf(LINE_FEED, at);
    return explainFault(bytes, at, end < 0 ? bytes.length : end, next);
  }
  if (reading.family === 4) v4.pushNetwork(reading.words[3], reading.prefix);
  else v6.pushNetwork(reading.words, 0, reading.prefix);
  return next + 1;
}
