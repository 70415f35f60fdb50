/** One recorded request, and its rule fields (SPEC D19.12). All texts are bytes. */
import { createHash } from 'node:crypto';
import { parseAddress } from '@weir/expression/address.ts';
import type { ByteString } from '@weir/expression/bytes.ts';
import { lowerCase } from '@weir/expression/evaluate/ascii.ts';
import type { Value } from '@weir/expression/evaluate/value.ts';

/** By lower-case name, values in order. */
export type Headers = Map<ByteString, ByteString[]>;

/** A recorded request; undefined = not recorded. */
export interface Exchange {
  /** Milliseconds since 1970. */
  readonly time?: number;
  readonly method?: ByteString;
  /** Path and query as received, or the absolute URL. */
  readonly target?: ByteString;
  readonly scheme?: ByteString;
  readonly host?: ByteString;
  readonly port?: number;
  /** Such as `HTTP/1.1`. */
  readonly protocol?: ByteString;
  readonly headers: Headers;
  /** Whether these are all headers of the request, or only a selection. */
  readonly allHeaders: boolean;
  /** Recorded header names, including headers absent from the request. */
  readonly named?: readonly ByteString[];
  /** The client's address as text. */
  readonly client?: ByteString;
  readonly contentLength?: number;
  readonly body?: ByteString;
  readonly status?: number;
  readonly responseHeaders?: Headers;
  /** Other fields, unchanged. */
  readonly fields?: Readonly<Record<string, Value>>;
}

export interface Recorded {
  /** Milliseconds since 1970, if recorded. */
  readonly time: number | null;
  /** By name; absent = not recorded. */
  readonly fields: Readonly<Record<string, Value>>;
  /** Recorded header names. */
  readonly headers: 'all' | ReadonlySet<ByteString>;
}

/** The latest time of a JavaScript date, ms. */
const LAST_TIME = 8.64e15;

/** Returns null for times outside the range of a date. */
export const timeOf = (time: number | undefined): number | null => (time !== undefined && Math.abs(time) <= LAST_TIME ? time : null);

export function addHeader(headers: Headers, name: ByteString, value: ByteString): void {
  const key = lowerCase(name);
  const values = headers.get(key);
  if (values === undefined) headers.set(key, [value]);
  else values.push(value);
}

export function recordedOf(exchange: Exchange): Recorded {
  const { time, headers, allHeaders } = exchange;
  const fields: Record<string, Value> = {};
  set(fields, 'http.request.method', exchange.method);
  setAddress(fields, exchange);
  setHeaders(fields, exchange);
  if (exchange.body !== undefined) {
    fields['http.request.body'] = exchange.body;
    fields['http.request.body_sha256'] = createHash('sha256').update(exchange.body, 'latin1').digest('hex');
  }
  const client = exchange.client === undefined ? null : parseAddress(exchange.client);
  set(fields, 'ip.src', client ?? undefined);
  set(fields, 'http.response.code', exchange.status);
  if (exchange.responseHeaders !== undefined) setResponse(fields, exchange.responseHeaders);
  Object.assign(fields, exchange.fields);
  const named = allHeaders ? 'all' : new Set([...headers.keys(), ...(exchange.named ?? [])]);
  return { time: timeOf(time), fields, headers: named };
}

function set(fields: Record<string, Value>, name: string, value: Value | undefined): void {
  if (value !== undefined) fields[name] = value;
}

const ABSOLUTE = /^([A-Za-z][A-Za-z0-9+.-]*):\/\/([^/?#]*)(.*)$/s;
const AUTHORITY = /^(?:[^@]*@)?(\[[^\]]*\]|[^:]*)(?::([0-9]{1,5}))?$/;

/** Sets host, scheme, port, path, query and full URI. */
function setAddress(fields: Record<string, Value>, { target, headers, ...given }: Exchange): void {
  const absolute = target === undefined ? null : ABSOLUTE.exec(target);
  const relative = absolute === null ? target : absolute[3];
  const scheme = absolute === null ? given.scheme : lowerCase(absolute[1]);
  const authority = AUTHORITY.exec(absolute?.[2] ?? given.host ?? headers.get('host')?.[0] ?? '');
  const host = authority === null || authority[1] === '' ? undefined : lowerCase(authority[1]);
  const port = given.port ?? (authority?.[2] === undefined ? defaultPort(scheme) : Number(authority[2]));
  set(fields, 'http.request.scheme', scheme);
  set(fields, 'http.request.host', host);
  set(fields, 'http.request.port', port);
  if (relative === undefined) return;
  const [address] = relative.split('#', 1);
  const mark = address.indexOf('?');
  fields['http.request.path'] = (mark === -1 ? address : address.slice(0, mark)) || '/';
  fields['http.request.query'] = mark === -1 ? '' : address.slice(mark + 1);
  if (scheme === undefined || host === undefined) return;
  const suffix = port === undefined || port === defaultPort(scheme) ? '' : `:${port}`;
  fields['http.request.uri'] = `${scheme}://${host}${suffix}${address.startsWith('/') ? '' : '/'}${address}`;
}

const defaultPort = (scheme: ByteString | undefined) => (scheme === 'https' ? 443 : scheme === 'http' ? 80 : undefined);

// An agent accepts visible ASCII, space and TAB as text.
const VISIBLE = /^[\t\x20-\x7e]*$/;

/** First value of a header; undefined if not recorded. */
function textHeader({ headers, allHeaders, named }: Exchange, name: string): ByteString | undefined {
  const value = headers.get(name)?.[0];
  if (value === undefined) return allHeaders || named?.includes(name) ? '' : undefined;
  return VISIBLE.test(value) ? value : '';
}

function setHeaders(fields: Record<string, Value>, exchange: Exchange): void {
  const { headers, allHeaders, contentLength, body, method = '' } = exchange;
  fields['http.request.headers'] = sorted(headers);
  set(fields, 'http.request.user_agent', textHeader(exchange, 'user-agent'));
  set(fields, 'http.request.content_type', textHeader(exchange, 'content-type'));
  const written = headers.get('content-length')?.[0];
  const length = written !== undefined && /^[0-9]{1,15}$/.test(written) ? Number(written) : contentLength;
  set(fields, 'http.request.content_length', length ?? body?.length ?? (allHeaders ? 0 : undefined));
  if (!allHeaders) return;
  const counted = [...headers].reduce((sum, [name, values]) => sum + (name === 'cookie' || name === 'referer' ? 0 : values.length), 0);
  const language = (headers.get('accept-language')?.[0] ?? '').split(/[,;]/, 1)[0].replaceAll('-', '');
  fields['signal.ja4h_method'] = lowerCase(method.slice(0, 2));
  fields['signal.ja4h_has_cookie'] = headers.has('cookie') ? 1 : 0;
  fields['signal.ja4h_has_referer'] = headers.has('referer') ? 1 : 0;
  fields['signal.ja4h_header_count'] = Math.min(counted, 99);
  fields['signal.ja4h_language'] = lowerCase(language.slice(0, 4)).padEnd(4, '0');
  set(fields, 'signal.ja4h_version', versionOf(exchange.protocol));
}

function versionOf(protocol: ByteString | undefined): ByteString | undefined {
  const found = protocol === undefined ? null : /^(?:HTTP\/|h)([1-3])(?:\.([01]))?$/i.exec(protocol);
  return found === null ? undefined : `${found[1]}${found[2] ?? '0'}`;
}

const sorted = (headers: Headers): Headers => new Map([...headers].sort(([a], [b]) => (a < b ? -1 : 1)));

function setResponse(fields: Record<string, Value>, headers: Headers): void {
  const pairs = [...headers].flatMap(([name, values]) => values.map((value) => [name, value]));
  fields['http.response.headers'] = sorted(headers);
  fields['http.response.headers.names'] = pairs.map(([name]) => name);
  fields['http.response.headers.values'] = pairs.map(([, value]) => value);
  fields['http.response.headers.truncated'] = false;
  fields['http.response.content_type.media_type'] = (headers.get('content-type')?.[0] ?? '').split(';', 1)[0].trim();
}
