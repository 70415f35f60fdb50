/** Asking a weir over HTTP, as it is on the wire: targets and headers are sent as written, nothing is added or decoded on the way. */
import { once } from 'node:events';
import { request } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';

/** An array is sent as several headers of one name, undefined not at all. */
export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

export interface Reply {
  readonly status: number;
  /** Lower-case names; several of one name joined by a comma. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly bytes: Buffer;
  /** The same as UTF-8. */
  readonly text: string;
}

interface Question {
  readonly method?: string;
  readonly headers?: Headers;
  readonly body?: string;
}

/** Asks the server at `base` for a target, which may be anything that fits into a request line. */
export async function ask(base: string, target: string, { method = 'GET', headers = {}, body }: Question = {}): Promise<Reply> {
  const { hostname: written, port } = new URL(base);
  const hostname = written.replace(/^\[|\]$/g, '');
  const given = Object.entries(headers).filter((entry): entry is [string, string | string[]] => entry[1] !== undefined);
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path: target, method, headers: { ...length, ...Object.fromEntries(given) } }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const bytes = Buffer.concat(chunks);
        const joined = Object.entries(response.headersDistinct).map(([name, values]) => [name, values!.join(', ')]);
        resolve({ status: response.statusCode!, headers: Object.fromEntries(joined), bytes, text: bytes.toString() });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

export const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

/** POST of a batch; a text is sent as it is. */
export async function postSignals(base: string, key: string, entries: unknown, target = '/v1/signal'): Promise<Reply> {
  const body = typeof entries === 'string' ? entries : JSON.stringify(entries);
  return ask(base, target, { method: 'POST', headers: bearer(key), body });
}

/** GET of a feed by what follows its address: `''`, `?family=v4`, `/edge`. */
export const getFeed = (base: string, key: string, target = ''): Promise<Reply> =>
  ask(base, `/v1/threat/feeds${target}`, { headers: bearer(key) });

interface Readiness {
  /** 200 = ready, 503 = not. */
  readonly status: number;
  readonly checks: Readonly<
    Record<string, { readonly ok: boolean; readonly state?: string; readonly reason?: string; readonly lag_messages?: number }>
  >;
}

/** What `/readyz` says. */
export async function readyz(base: string): Promise<Readiness> {
  const { status, text } = await ask(base, '/readyz');
  return { status, checks: (JSON.parse(text) as Readiness).checks };
}

/** A port that nothing listens on. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
