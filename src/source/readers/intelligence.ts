/** Documents of threat intelligence as files: bundles of STIX 2, events and searches of MISP (SPEC D41.14, D41.15). */
import { hasCode, WeirError } from '../../errors.ts';
import { parsedJson } from '../../json/json.ts';
import { isObject } from '../../signal/normalize.ts';
import { readObject } from '../taxii/indicator.ts';
import { listOf, objectKeeper } from '../taxii/known.ts';
import { valuesByPath } from './documents.ts';
import { readPath, rowsAt } from './paths.ts';
import { type PlacedRow, rowOf } from './row.ts';

/** Bytes of a document that tell whether it is one of these. */
const TELLING = 1024;
const BUNDLE = /^\{[^[{]*"(type"\s*:\s*"bundle"|id"\s*:\s*"bundle--)/;
const EVENT =
  /^\{\s*"(Event"\s*:\s*\{[\s\S]*"(Attribute|Orgc|analysis|threat_level_id)"|response"\s*:\s*(\{\s*"Attribute"|\[\s*\{\s*"Event"))\s*:/;

/** Whether the document that begins so is one of these; undefined where more of it has to be read. */
export function documentForm(content: string, isComplete: boolean): 'stix' | 'misp' | 'ndjson' | undefined {
  const end = content.indexOf('\n');
  const isLine = (isComplete || end >= 0) && parsedJson(end < 0 ? content : content.slice(0, end)) !== undefined;
  if (!isLine && !isComplete && content.length < TELLING) return undefined;
  const head = content.slice(0, isLine && end >= 0 ? end : TELLING);
  return BUNDLE.test(head) ? 'stix' : EVENT.test(head) ? 'misp' : 'ndjson';
}

/** The networks of the indicators of bundles, as a collection of TAXII has them (D23.32, D23.33). Throws USAGE at what is no JSON. */
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

/** Where attributes stand in an event, in those of a search, and in a search for attributes. */
const ATTRIBUTES = [
  'Event.Attribute[]',
  'Event.Object[].Attribute[]',
  'response[].Event.Attribute[]',
  'response[].Event.Object[].Attribute[]',
  'response.Attribute[]',
].map(readPath);

/** The attributes of events. Throws USAGE at what is no JSON. */
export async function* mispRows(chunks: AsyncIterable<Buffer>): AsyncGenerator<PlacedRow> {
  for await (const { value, place, paths } of valuesByPath(chunks, ATTRIBUTES))
    for (const path of isObject(value) ? paths : []) for (const row of rowsAt(value, path, undefined)) yield { row, place };
}
