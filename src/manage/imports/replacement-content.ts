/** NDJSON: entries, faults, or reasons for skipped rows. */

import { WeirError } from '../../errors.ts';
import { parsedJson } from '../../json/json.ts';
import type { StoreReads, StoreWrites } from '../../ports/store.ts';
import type { Replacement } from '../../ports/stored/replacement-store.ts';
import { isObject } from '../../signal/normalize.ts';
import { type PassedRow, type PlacedEntry, placed } from '../../source/readers/content.ts';
import type { ListDefaults } from '../../source/readers/entry.ts';
import type { LineFault } from '../../source/readers/items.ts';
import { isBlank, readUtf8 } from '../../source/readers/lines.ts';
import { rowOf } from '../../source/readers/row.ts';
import { pack, unpack } from './pack.ts';

/** Lines per part, and parts. */
export const MOST_LINES = 10_000;
export const MOST_PARTS = 400;

/** Returns its number of lines. Rejects with USAGE, and with REFUSED if it is too late. */
export async function keepPart(
  store: Pick<StoreWrites, 'storeReplacementPiece'>,
  { id }: Pick<Replacement, 'id'>,
  n: number,
  bytes: Uint8Array,
  now: number,
): Promise<number> {
  let lines = 0;
  for (let at = bytes.indexOf(LF); at >= 0; at = bytes.indexOf(LF, at + 1)) lines += 1;
  if (bytes.at(-1) !== LF) throw new WeirError('USAGE', 'the part does not end with a line feed: it is truncated');
  if (lines > MOST_LINES) throw new WeirError('USAGE', `a part can have at most ${MOST_LINES} lines`);
  if (!(await store.storeReplacementPiece(id, 'part', n, await pack(bytes), now)))
    throw new WeirError('REFUSED', 'the content is already complete, or the replacement was cancelled');
  return lines;
}
const LF = 0x0a;

/** Rejects with REFUSED if it is incomplete. */
export async function* partsOf(
  store: Pick<StoreReads, 'replacementPiece'>,
  { id }: Pick<Replacement, 'id'>,
  counted: { readonly parts: number; readonly lines: number },
  defaults: ListDefaults,
): AsyncGenerator<PlacedEntry | LineFault | PassedRow> {
  let lines = 0;
  for (let n = 0; n < counted.parts; n += 1) {
    const body = await store.replacementPiece(id, 'part', n);
    if (body === undefined) throw new WeirError('REFUSED', `part ${n} of the content is missing`);
    for (const bytes of linesOf(await unpack(body))) {
      lines += 1;
      for (const each of readPartLine(bytes, lines, defaults)) yield each;
    }
  }
  if (lines !== counted.lines) throw new WeirError('REFUSED', `the content has ${lines} lines, but ${counted.lines} were declared`);
}

/** Not blank, without the line feed. */
function* linesOf(bytes: Buffer): Generator<Buffer> {
  for (let from = 0, at = bytes.indexOf(LF); at >= 0; from = at + 1, at = bytes.indexOf(LF, from)) {
    const line = bytes.subarray(from, at);
    if (!isBlank(line)) yield line;
  }
}

function readPartLine(bytes: Buffer, number: number, defaults: ListDefaults): readonly (PlacedEntry | LineFault | PassedRow)[] {
  const value = parsedJson(readUtf8(bytes));
  const place = isObject(value) && typeof value.place === 'string' ? value.place.slice(0, 200) : `line ${number}`;
  if (!isObject(value)) return [{ fault: 'this is not a JSON object', place }];
  if (typeof value.fault === 'string') return [{ fault: value.fault.slice(0, 1000), place }];
  if (typeof value.passed === 'string') return [{ passed: value.passed.slice(0, 200), place }];
  return placed(rowOf(value), defaults, place);
}
