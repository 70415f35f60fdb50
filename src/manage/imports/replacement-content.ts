/** The content of a replacement as it is sent: one JSON object a line, each an entry, what is wrong at its place, or why a row asks for nothing. */

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

/** Lines of one part at most, and parts of a content. */
export const MOST_LINES = 10_000;
export const MOST_PARTS = 400;

/** Keeps a part of one whose content comes in. Rejects with USAGE for a part that is none, with REFUSED where it is too late. Returns its lines. */
export async function keepPart(
  store: Pick<StoreWrites, 'keepReplacementPiece'>,
  { id }: Pick<Replacement, 'id'>,
  n: number,
  bytes: Uint8Array,
  now: number,
): Promise<number> {
  let lines = 0;
  for (let at = bytes.indexOf(LF); at >= 0; at = bytes.indexOf(LF, at + 1)) lines += 1;
  if (bytes.at(-1) !== LF) throw new WeirError('USAGE', 'the part does not end with a line feed: it is cut');
  if (lines > MOST_LINES) throw new WeirError('USAGE', `a part has ${MOST_LINES} lines at most`);
  if (!(await store.keepReplacementPiece(id, 'part', n, await pack(bytes), now)))
    throw new WeirError('REFUSED', 'the content is whole already, or was given up');
  return lines;
}
const LF = 0x0a;

/** Whether all parts are there, and as many lines as were counted. Rejects with REFUSED where not. */
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
  if (lines !== counted.lines) throw new WeirError('REFUSED', `the content has ${lines} lines, and was said to have ${counted.lines}`);
}

/** The lines of a part that say something; each ends with a line feed. */
function* linesOf(bytes: Buffer): Generator<Buffer> {
  for (let from = 0, at = bytes.indexOf(LF); at >= 0; from = at + 1, at = bytes.indexOf(LF, from)) {
    const line = bytes.subarray(from, at);
    if (!isBlank(line)) yield line;
  }
}

function readPartLine(bytes: Buffer, number: number, defaults: ListDefaults): readonly (PlacedEntry | LineFault | PassedRow)[] {
  const value = parsedJson(readUtf8(bytes));
  const place = isObject(value) && typeof value.place === 'string' ? value.place.slice(0, 200) : `line ${number}`;
  if (!isObject(value)) return [{ fault: 'this is no JSON object', place }];
  if (typeof value.fault === 'string') return [{ fault: value.fault.slice(0, 1000), place }];
  if (typeof value.passed === 'string') return [{ passed: value.passed.slice(0, 200), place }];
  return placed(rowOf(value), defaults, place);
}
