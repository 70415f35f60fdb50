/** A line per network, then skip reasons (SPEC D23.33). */
import { parsedJson } from '../../json/json.ts';
import { isObject } from '../../signal/normalize.ts';
import { type PassedRow, type PlacedEntry, placed } from '../readers/content.ts';
import type { ListDefaults } from '../readers/entry.ts';
import type { LineFault } from '../readers/items.ts';
import { readLines, readUtf8 } from '../readers/lines.ts';
import { rowOf } from '../readers/row.ts';
import { type CollectionList, MOST_OBJECTS } from './known.ts';

export function* listLines({ rows, passed }: CollectionList): Generator<string> {
  for (const row of rows) yield `${JSON.stringify(row)}\n`;
  for (const [reason, count] of Object.entries(passed)) yield `${JSON.stringify({ passed: reason, count })}\n`;
}

export async function* taxiiEntries(
  bytes: AsyncIterable<Buffer>,
  defaults: ListDefaults,
): AsyncGenerator<PlacedEntry | LineFault | PassedRow> {
  for await (const { number, bytes: line } of readLines(bytes)) {
    const value = parsedJson(readUtf8(line));
    const indicator = isObject(value) && isObject(value.labels) ? value.labels.indicator : undefined;
    const place = typeof indicator === 'string' ? indicator : `line ${number}`;
    if (!isObject(value)) yield { fault: 'this is no JSON object', place };
    else if (typeof value.passed === 'string') {
      const count = Math.min(Number(value.count) || 0, MOST_OBJECTS);
      for (let i = 0; i < count; i += 1) yield { passed: value.passed, place };
    } else yield* placed(rowOf(value), defaults, place);
  }
}
