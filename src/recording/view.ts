/** Views of a recorded request: as recorded, or as seen by the agent (SPEC D19.13). */
import { isUnknownToAgent } from '@weir/expression/agent.ts';
import type { ByteString } from '@weir/expression/bytes.ts';
import { defaultOf, type Layout, type Request, requestOf, type Value } from '@weir/expression/evaluate/value.ts';
import type { Read } from '@weir/expression/reads.ts';
import type { Recorded } from './exchange.ts';

export const VIEWS = ['recorded', 'agent'] as const;
export type View = (typeof VIEWS)[number];

const EMPTY_SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

export function requestOfRecorded(layout: Layout, { fields }: Recorded, view: View): Request {
  if (view === 'recorded') return requestOf(layout, ({ name }) => fields[name]);
  return requestOf(layout, (field) => {
    const seen = AGENT[field.name];
    if (seen !== undefined) return seen(fields);
    if (isUnknownToAgent(field.name)) return defaultOf(field.type);
    return fields[field.name];
  });
}

type Fields = Recorded['fields'];

/** Agent values that are independent of the request. */
const AGENT: Readonly<Record<string, (fields: Fields) => Value | undefined>> = {
  'http.request.host': () => 'localhost',
  'http.request.scheme': () => 'http',
  'http.request.port': () => 80,
  'http.request.uri': (fields) => {
    const [path, query] = [fields['http.request.path'], fields['http.request.query']] as (ByteString | undefined)[];
    return path === undefined ? undefined : `http://localhost${path}${query ? `?${query}` : ''}`;
  },
  'http.request.body': () => '',
  'http.request.body_sha256': () => EMPTY_SHA256,
  'http.request.content_length': (fields) => {
    const headers = fields['http.request.headers'] as ReadonlyMap<ByteString, readonly ByteString[]> | undefined;
    const written = headers?.get('content-length')?.[0];
    return written !== undefined && /^[0-9]{1,15}$/.test(written) ? Number(written) : 0;
  },
  'signal.ja4h_version': () => '11',
};

/** Fields and entries used by a rule but missing in the recording, such as `threat.score` or `http.request.headers["cookie"]`. */
export function lackingOf(reads: readonly Read[], { fields, headers }: Recorded): string[] {
  const lacking: string[] = [];
  for (const { field, key } of reads) {
    if (field === 'http.request.headers' && field in fields) {
      if (headers === 'all' || (key !== null && headers.has(key))) continue;
      lacking.push(key === null ? 'most of http.request.headers' : `http.request.headers["${key}"]`);
    } else if (!(field in fields)) lacking.push(field);
  }
  return lacking;
}
