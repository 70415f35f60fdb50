/** Compressed if useful, 304 if unchanged (SPEC D15.57). */
import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Outcome } from '../../manage/outcome.ts';
import { type Answer, jsonAnswer, NO_SNIFFING } from '../answer.ts';
import { namesTag } from '../feeds/conditional.ts';
import { negotiateCoding } from '../feeds/encoding.ts';

/** Smaller bodies fit one packet. */
const LEAST_PACKED = 1400;
/** As for feeds: far cheaper than the default for a slightly larger body. */
const LEVEL = 4;
const pack = promisify(gzip);

export interface Accepts {
  readonly gzip: boolean;
  /** If-None-Match of a read. */
  readonly known: string | undefined;
  readonly isRead: boolean;
}

export const acceptsOf = (method: string, headers: IncomingHttpHeaders): Accepts => ({
  gzip: negotiateCoding(headers['accept-encoding']) === 'gzip',
  known: headers['if-none-match'],
  isRead: method === 'GET',
});

/**
 * Reads get a weak tag of the body. Editable resources have that of their state, which ignores other fields, so they are never 304. `base`:
 * prefix of `location`.
 */
export async function outcomeAnswer(
  { status = 200, body, json = JSON.stringify(body), tag, location, headers, until }: Outcome,
  accepts: Accepts,
  base: string,
): Promise<Answer> {
  const content = accepts.isRead && status === 200 && tag === undefined ? `"${hash('sha256', json, 'base64url').slice(0, 22)}"` : undefined;
  const shared = {
    'Cache-Control': 'no-store',
    ...(tag !== undefined && { ETag: tag }),
    ...(content !== undefined && { ETag: `W/${content}` }),
    ...(location !== undefined && { Location: base + location }),
    ...headers,
    Vary: 'Accept-Encoding, Authorization, Cookie',
  };
  const more = until === undefined ? {} : { until };
  if (content !== undefined && accepts.known !== undefined && namesTag(accepts.known, content)) {
    return { status: 304, headers: [...Object.entries(shared).flatMap(pairs), ...NO_SNIFFING], body: undefined, ...more };
  }
  const plain = { ...jsonAnswer(status, json, shared), ...more };
  if (!accepts.gzip || json.length < LEAST_PACKED) return plain;
  const packed = await pack(json, { level: LEVEL });
  const length = plain.headers.indexOf('Content-Length') + 1;
  return { ...plain, headers: [...plain.headers.with(length, String(packed.length)), 'Content-Encoding', 'gzip'], body: packed };
}

const pairs = ([name, value]: [string, string | readonly string[]]) => [value].flat().flatMap((each) => [name, each]);
