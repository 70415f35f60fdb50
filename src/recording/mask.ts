/** Requests without what belongs to those who made them: the shape stays, so that rules meet them as before (SPEC D21.2). */
import type { ByteString } from '@weir/expression/bytes.ts';
import type { Value } from '@weir/expression/evaluate/value.ts';

type Fields = Readonly<Record<string, Value>>;

/** Headers whose values are secrets from end to end. */
const SECRETS = ['authorization', 'proxy-authorization', 'x-api-key', 'x-auth-token', 'x-csrf-token'];
const COOKIES = ['cookie', 'set-cookie'];

/** The fields of a request with the values of its query, its cookies, its body and its secrets masked. */
export function masked(fields: Fields): Record<string, Value> {
  const out: Record<string, Value> = {};
  for (const [name, value] of Object.entries(fields)) {
    // A digest tells who has the body that it was that one.
    if (name.endsWith('.body_sha256')) continue;
    const mask = MASKS[name];
    out[name] = mask === undefined ? value : mask(value);
  }
  return out;
}

const MASKS: Readonly<Record<string, (value: Value) => Value>> = {
  'http.request.query': (value) => maskQuery(value as ByteString),
  'http.request.uri': (value) => maskUri(value as ByteString),
  'http.request.body': (value) => maskText(value as ByteString),
  'http.response.body': (value) => maskText(value as ByteString),
  'http.request.headers': (value) => maskHeaders(value as ReadonlyMap<ByteString, readonly ByteString[]>),
  'http.response.headers': (value) => maskHeaders(value as ReadonlyMap<ByteString, readonly ByteString[]>),
};

/** Letters are x and digits are 0; a percent escape stays one. */
const maskText = (text: ByteString): ByteString =>
  text.replace(/%[0-9a-f]{2}|[a-z\x80-\xff]|[0-9]/gi, (part) => {
    if (part.length === 3) return part;
    return part >= '0' && part <= '9' ? '0' : 'x';
  });

/** What stands behind the first `=` of each part; a part without one is a value. */
const maskQuery = (query: ByteString): ByteString =>
  query.replace(/([^&=]*=)?([^&]*)/g, (_, name = '', value: string) => name + maskText(value));

function maskUri(uri: ByteString): ByteString {
  const at = uri.indexOf('?');
  return at < 0 ? uri : uri.slice(0, at + 1) + maskQuery(uri.slice(at + 1));
}

const maskCookies = (text: ByteString): ByteString =>
  text.replace(/([^;=]*=)?([^;]*)/g, (_, name = '', value: string) => name + maskText(value));

const maskHeaders = (headers: ReadonlyMap<ByteString, readonly ByteString[]>): ReadonlyMap<ByteString, readonly ByteString[]> =>
  new Map(
    Array.from(headers, ([name, values]) => {
      if (SECRETS.includes(name)) return [name, values.map(maskText)];
      if (COOKIES.includes(name)) return [name, values.map(maskCookies)];
      return [name, name === 'referer' ? values.map(maskUri) : values];
    }),
  );
