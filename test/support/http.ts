/** Asking a weir over HTTP, as it is on the wire: targets and headers are sent as written, nothing is added or decoded on the way. */
import { request } from 'node:http';
import { createServer } from 'node:net';

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
        const reply = { status: response.statusCode!, headers: Object.fromEntries(joined), bytes, text: bytes.toString() };
        resolve(documented(method, target, reply.status).then(() => reply));
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Rejects where an API document does not have the status. */
async function documented(method: string, target: string, status: number): Promise<void> {
  // Only in management is 200 not an answer of every address.
  if (!target.startsWith('/v') || (status === 200 && !target.startsWith('/v1/manage/'))) return;
  const { undocumented } = await import('./documented.ts');
  const fault = undocumented(method, target, status);
  if (fault !== undefined) throw new Error(fault);
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

/** Ports below those that the system gives to connections and to listeners without a port of their own: none of them can come in between. */
const PORTS = { first: 12_000, processes: 2000, each: 10, stride: 101 };
let asked = 0;

/** A port that nothing listens on, and that no other process of the tests is given meanwhile. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < PORTS.each * 10; tries++) {
    // Those of this process; when they are in use, those of others.
    const own = (process.pid + Math.floor(asked / PORTS.each) * PORTS.stride) % PORTS.processes;
    const port = PORTS.first + own * PORTS.each + (asked % PORTS.each);
    asked += 1;
    if (await isFree(port)) return port;
  }
  throw new Error('no port is free');
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer().listen(port);
    server.once('listening', () => server.close(() => resolve(true))).once('error', () => resolve(false));
  });
}
