/** STIX 2 bundles, MISP events and searches (SPEC D41.14, D41.15). */
import { hasCode, WeirError } from '../../errors.ts';
import { parsedJson } from '../../json/json.ts';
import { isObject } from '../../signal/normalize.ts';
import { readObject } from '../taxii/indicator.ts';
import { listOf, objectKeeper } from '../taxii/known.ts';
import { valuesByPath } from './documents.ts';
import { readPath, rowsAt } from './paths.ts';
import { type PlacedRow, rowOf } from './row.ts';

const TELLING = 1024;
const BUNDLE = /^\{[^[{]*"(type"\s*:\s*"bundle"|id"\s*:\s*"bundle--)/;
const EVENT =
  /^\{\s*"(Event"\s*:\s*\{[\s\S]*"(Attribute|Orgc|analysis|threat_level_id)"|response"\s*:\s*(\{\s*"Attribute"|\[\s*\{\s*"Event"))\s*:/;

/** undefined: more input needed. */
export function documentForm(content: string, isComplete: boolean): 'stix' | 'misp' | 'ndjson' | undefined {
  const end = content.indexOf('\n');
  const isLine = (isComplete || end >= 0) && parsedJson(end < 0 ? content : content.slice(0, end)) !== undefined;
  if (!isLine && !isComplete && content.length < TELLING) return undefined;
  const head = content.slice(0, isLine && end >= 0 ? end : TELLING);
  return BUNDLE.test(head) ? 'stix' : EVENT.test(head) ? 'misp' : 'ndjson';
}

/** Networks of indicators, as in a TAXII collection (D23.32, D23.33). Throws USAGE for invalid JSON. */
export async function* stixRows(chunks: AsyncIterable<Buffer>, now: number): AsyncGenerator<PlacedRow> {
  const keeper = objectKeeper();
  for await (const { value, place } of valuesByPath(chunks, [readPath('objects[]')])) {
    const object = readObject(value);
    if (object === undefined) yield { row: 'this is no object of STIX', place };
    else take(object);
  }
  const { rows, passed } = listOf(keeper.objects.values(), now);
  for (const row of rows) yield { row: rowOf(row), place: row.labels.indicator };
  for (const [reason, count] of Object.entries(passed))
    for (let i = 0; i < count; i += 1) yield { row: { passed: reason }, place: 'objects' };

  function take(object: Parameters<typeof keeper.take>[0]): void {
    try {
      keeper.take(object);
    } catch (error) {
      throw hasCode(error, 'FETCH') ? new WeirError('USAGE', error.message) : error;
    }
  }
}

/** In events, event searches and attribute searches. */
const ATTRIBUTES = [
  'Event.Attribute[]',
  'Event.Object[].Attribute[]',
  'response[].Event.Attribute[]',
  'response[].Event.Object[].Attribute[]',
  'response.Attribute[]',
].map(readPath);

export async function* mispRows(chunks: AsyncIterable<Buffer>): AsyncGenerator<PlacedRow> {
  for await (const { value, place, paths } of valuesByPath(chunks, ATTRIBUTES))
    for (const path of isObject(value) ? paths : []) for (const row of rowsAt(value, path, undefined)) yield { row, place };
}
