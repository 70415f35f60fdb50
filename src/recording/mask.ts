/** Masks personal data in requests. Preserves the shape: rules match as before (SPEC D21.2). */
import type { ByteString } from '@weir/expression/bytes.ts';
import type { Value } from '@weir/expression/evaluate/value.ts';

type Fields = Readonly<Record<string, Value>>;

/** Headers with a secret value. */
const SECRETS = ['authorization', 'proxy-authorization', 'x-api-key', 'x-auth-token', 'x-csrf-token'];
const COOKIES = ['cookie', 'set-cookie'];

/** Masks the values of query, cookies, body and secrets. */
export function masked(fields: Fields): Record<string, Value> {
  const out: Record<string, Value> = {};
  for (const [name, value] of Object.entries(fields)) {
    // A digest would identify the body.
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

/** Letters become x and digits 0; percent escapes stay. */
const maskText = (text: ByteString): ByteString =>
  text.replace(/%[0-9a-f]{2}|[a-z\x80-\xff]|[0-9]/gi, (part) => {
    if (part.length === 3) return part;
    return part >= '0' && part <= '9' ? '0' : 'x';
  });

/** Masks after the first `=` of each part; a part without `=` is a value. */
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
