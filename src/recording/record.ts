/** Reads a line of a recording, or an entry of a HAR, as a request (SPEC D19.12). */
import type { ByteString } from '@weir/expression/bytes.ts';
import { valueOfJson } from '@weir/expression/evaluate/json-request.ts';
import { EvaluationError, type Layout, type Value } from '@weir/expression/evaluate/value.ts';
import { parseLine } from '@weir/expression/json-bytes.ts';
import { type Piece, TOO_LONG } from './bytes.ts';
import { readCombined } from './combined.ts';
import { type Recorded, recordedOf, timeOf } from './exchange.ts';
import { readJson } from './json-logs.ts';
import { anyTime } from './time.ts';

/** Returns null for an empty line, and a fault as text. */
export function readRecord(piece: Piece, layout: Layout): Recorded | string | null {
  if (piece === TOO_LONG) return 'the line is too long';
  const line = piece.startsWith('\xef\xbb\xbf') ? piece.slice(3) : piece;
  if (/^\s*$/.test(line)) return null;
  if (!/^\s*\{/.test(line)) {
    const exchange = readCombined(line.endsWith('\r') ? line.slice(0, -1) : line);
    return exchange === null ? 'the line is neither JSON nor of the combined log format' : recordedOf(exchange);
  }
  const json = parseLine(line);
  if (json === null) return 'the line is no valid JSON object';
  const fields = neutralFields(json, layout);
  if (fields !== null) return readNeutral(fields, json.time, layout);
  const exchange = readJson(json);
  return exchange === null ? 'no request is found in the object' : recordedOf(exchange);
}

/** Fields of weir's own form, `{"time": …, "request": {field: value}}` or the fields alone. */
function neutralFields(json: Record<string, unknown>, layout: Layout): Record<string, unknown> | null {
  const { request } = json;
  const inner = typeof request === 'object' && request !== null && !Array.isArray(request) ? (request as Record<string, unknown>) : null;
  if (inner !== null && !('url' in inner) && !('uri' in inner)) return inner;
  return Object.keys(json).some((key) => key.includes('.') && layout.slots.has(key)) ? json : null;
}

const asBytes = (text: ByteString): ByteString => text;

function readNeutral(json: Record<string, unknown>, time: unknown, layout: Layout): Recorded | string {
  const fields: Record<string, Value> = {};
  for (const [name, value] of Object.entries(json)) {
    if (name === 'time' || value === null) continue;
    const slot = layout.slots.get(name);
    if (slot === undefined) return `there is no field "${name.slice(0, 100)}"`;
    try {
      fields[name] = valueOfJson(layout.fields[slot], value, asBytes);
    } catch (error) {
      if (error instanceof EvaluationError) return error.message;
      throw error;
    }
  }
  const headers = 'http.request.headers' in fields ? 'all' : new Set<ByteString>();
  return { time: timeOf(anyTime(time)), fields, headers };
}
