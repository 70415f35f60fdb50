/** Requests in JSON: nginx, Apache and Envoy logs, Caddy, the agent's access log, HAR entries, weir's own form. */
import type { ByteString } from '@weir/expression/bytes.ts';
import { lowerCase } from '@weir/expression/evaluate/ascii.ts';
import { readRequestLine } from './combined.ts';
import { addHeader, type Exchange, type Headers } from './exchange.ts';
import { anyTime } from './time.ts';

type Json = Readonly<Record<string, unknown>>;

/** A JSON log format: detection and reader. */
interface Form {
  readonly name: string;
  readonly is: (json: Json) => boolean;
  readonly read: (json: Json) => Exchange | null;
}

/** In the order of detection. */
const FORMS: readonly Form[] = [
  { name: 'HAR', is: ({ request }) => isObject(request) && typeof request.url === 'string', read: readHarEntry },
  { name: 'Caddy', is: ({ request }) => isObject(request) && typeof request.uri === 'string' && 'method' in request, read: readCaddy },
  { name: 'agent', is: ({ http }) => isObject(http) && 'method' in http, read: readAgent },
  { name: 'nginx, Apache or Envoy', is: () => true, read: readChosen },
];

/** Returns null if the object has no request. */
export const readJson = (json: Json): Exchange | null => FORMS.find(({ is }) => is(json))!.read(json);

function readHarEntry({ request, response, startedDateTime }: Json): Exchange | null {
  const { method, url, headers, postData, httpVersion } = request as Json;
  const sent = headerList(headers);
  const host = sent.get('host')?.[0];
  const body = isObject(postData) ? text(postData.text) : undefined;
  return {
    time: anyTime(startedDateTime),
    method: text(method),
    target: text(url),
    protocol: text(httpVersion),
    headers: host === undefined ? withHost(sent, text(url)) : sent,
    allHeaders: true,
    body: body ?? '',
    status: isObject(response) ? integer(response.status) : undefined,
    responseHeaders: isObject(response) ? headerList(response.headers) : undefined,
  };
}

/** HTTP/2 has the host in a pseudo header; agents receive it as a header. */
function withHost(headers: Headers, url: ByteString | undefined): Headers {
  const host = url === undefined ? null : /^[a-z]+:\/\/([^/?#]+)/i.exec(url);
  if (host !== null) addHeader(headers, 'host', host[1]);
  return headers;
}

function headerList(list: unknown): Headers {
  const headers: Headers = new Map();
  if (!Array.isArray(list)) return headers;
  for (const entry of list) {
    if (!isObject(entry) || typeof entry.name !== 'string' || typeof entry.value !== 'string') continue;
    if (!entry.name.startsWith(':')) addHeader(headers, entry.name, entry.value);
  }
  return headers;
}

function headerObject(object: unknown): Headers {
  const headers: Headers = new Map();
  if (!isObject(object)) return headers;
  for (const [name, value] of Object.entries(object)) {
    for (const one of Array.isArray(value) ? value : [value]) if (typeof one === 'string') addHeader(headers, name, one);
  }
  return headers;
}

function readCaddy({ request, status, resp_headers, ts }: Json): Exchange | null {
  const { method, uri, host, proto, remote_ip, client_ip, headers, tls } = request as Json;
  const sent = headerObject(headers);
  if (!sent.has('host') && typeof host === 'string') addHeader(sent, 'host', host);
  return {
    time: anyTime(ts),
    method: text(method),
    target: text(uri),
    scheme: isObject(tls) ? 'https' : 'http',
    host: text(host),
    protocol: text(proto),
    headers: sent,
    allHeaders: true,
    client: text(client_ip) ?? text(remote_ip),
    status: integer(status),
    responseHeaders: isObject(resp_headers) ? headerObject(resp_headers) : undefined,
  };
}

/** The agent's own values with a rule field. */
const AGENT_SIGNALS: Readonly<Record<string, string>> = {
  ja4: 'signal.ja4',
  ja4_unsorted: 'signal.ja4_unsorted',
  ja4t: 'signal.ja4t',
  version: 'signal.tls_version',
  cipher: 'signal.cipher_suite',
  alpn: 'signal.alpn',
  sni: 'signal.sni',
};

function readAgent({ http, network, tls, response, timestamp, time }: Json): Exchange | null {
  const h = http as Json;
  const fields: Record<string, ByteString> = {};
  if (typeof h.ja4h === 'string') fields['signal.ja4h'] = h.ja4h;
  if (isObject(tls)) for (const [key, name] of Object.entries(AGENT_SIGNALS)) if (typeof tls[key] === 'string') fields[name] = tls[key];
  const path = text(h.path);
  const query = text(h.query);
  return {
    time: anyTime(timestamp ?? time),
    method: text(h.method),
    target: path === undefined ? undefined : query === undefined || query === '' ? path : `${path}?${query}`,
    scheme: text(h.scheme),
    host: text(h.host),
    port: integer(h.port),
    headers: headerObject(h.headers),
    allHeaders: isObject(h.headers),
    client: isObject(network) ? text(network.src_ip) : undefined,
    contentLength: integer(h.content_length),
    body: h.body_truncated === true ? undefined : text(h.body),
    status: isObject(response) ? integer(response.status) : undefined,
    fields,
  };
}

/** Names in use for the parts of a request; the first one present counts. */
const NAMES = {
  time: ['time_iso8601', 'msec', 'time_local', 'start_time', '@timestamp', 'timestamp', 'time', 'ts'],
  method: ['request_method', 'method', ':method', 'verb'],
  target: ['request_uri', ':path', 'path', 'url', 'uri'],
  query: ['args', 'query_string', 'query'],
  line: ['request', 'request_line'],
  host: ['http_host', 'host', 'authority', ':authority', 'vhost', 'server_name'],
  scheme: ['scheme', 'http_x_forwarded_proto'],
  port: ['server_port', 'port'],
  protocol: ['server_protocol', 'protocol', 'proto'],
  client: [
    'remote_addr',
    'remote_ip',
    'client_ip',
    'clientip',
    'remoteIP',
    'client',
    'downstream_remote_address_without_port',
    'downstream_remote_address',
  ],
  status: ['status', 'response_code'],
  length: ['content_length', 'request_content_length'],
  body: ['request_body'],
} as const;

/** Log-specific names of headers. */
const HEADER_NAMES: Readonly<Record<string, string>> = {
  user_agent: 'user-agent',
  userAgent: 'user-agent',
  agent: 'user-agent',
  referer: 'referer',
  referrer: 'referer',
  content_type: 'content-type',
  x_forwarded_for: 'x-forwarded-for',
  host: 'host',
  authority: 'host',
  ':authority': 'host',
};

function readChosen(json: Json): Exchange | null {
  const find = (part: keyof typeof NAMES) => {
    for (const name of NAMES[part]) if (Object.hasOwn(json, name) && given(json[name])) return json[name];
    return undefined;
  };
  const line = text(find('line'));
  const fromLine = line === undefined ? null : readRequestLine(line);
  const method = text(find('method')) ?? fromLine?.method;
  const target = targetOf(json, text(find('target')), text(find('query'))) ?? fromLine?.target ?? line;
  if (method === undefined && target === undefined) return null;
  const headers: Headers = new Map();
  const named: ByteString[] = [];
  for (const [key, value] of Object.entries(json)) {
    const name = key.startsWith('http_') ? lowerCase(key.slice(5)).replaceAll('_', '-') : HEADER_NAMES[key];
    if (name === undefined || name === 'x-forwarded-proto') continue;
    named.push(name);
    if (typeof value === 'string' && given(value) && !headers.has(name)) addHeader(headers, name, value);
  }
  const body = find('body');
  return {
    time: anyTime(find('time')),
    method,
    target,
    scheme: text(find('scheme')),
    host: text(find('host')),
    port: integer(find('port')),
    protocol: text(find('protocol')) ?? fromLine?.protocol,
    headers,
    allHeaders: false,
    named,
    client: text(find('client'))?.replace(/^\[?([0-9a-fA-F.:]+?)\]?(?::[0-9]+)?$/, withoutPort),
    contentLength: integer(find('length')),
    body: typeof body === 'string' ? body : undefined,
    status: integer(find('status')),
  };
}

/** Rules match the raw target; a decoded path with its query is the fallback. */
function targetOf(json: Json, target: ByteString | undefined, query: ByteString | undefined): ByteString | undefined {
  if (target === undefined || 'request_uri' in json || ':path' in json || query === undefined || target.includes('?')) return target;
  return `${target}${query.startsWith('?') ? '' : '?'}${query}`;
}

/** An IPv6 address has more than one colon, so a port needs brackets. */
function withoutPort(hostPort: string, address: string): string {
  if (hostPort.startsWith('[')) return address;
  return hostPort.split(':').length > 2 ? hostPort : address;
}

const given = (value: unknown): boolean => value !== null && value !== '' && value !== '-';
const text = (value: unknown): ByteString | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

function integer(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^[0-9]{1,15}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) ? number : undefined;
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);
