/** Requests to an application of the test's own process, over a socket of its own each. */
import { request } from 'node:http';
import type { App } from '../../src/http/app.ts';

interface Sent {
  readonly method?: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly payload?: string | Buffer;
  /** The client goes away when it is aborted. */
  readonly signal?: AbortSignal | undefined;
}

export interface Injected {
  readonly statusCode: number;
  /** By name in lower case; what was sent more than once has all its values. */
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: string;
  // biome-ignore lint/suspicious/noExplicitAny: what a test looks for in an answer.
  json(): any;
}

const listening = new WeakMap<App, Promise<string>>();

/** The answer of an application, which listens from the first request on as long as the process runs. */
export async function inject(app: App, sent: Sent | string): Promise<Injected> {
  const { method = 'GET', url, headers = {}, payload, signal }: Sent = typeof sent === 'string' ? { url: sent } : sent;
  let base = listening.get(app);
  if (base === undefined) {
    base = app.listen({ host: '127.0.0.1', port: 0 });
    listening.set(app, base);
  }
  const { port } = new URL(await base);
  app.server.unref();
  return new Promise((resolve, reject) => {
    const length = payload === undefined ? {} : { 'content-length': String(Buffer.byteLength(payload)) };
    const to = { host: '127.0.0.1', port, method, path: url, headers: { ...length, ...headers }, agent: false, signal };
    const asking = request(to, (answer) => {
      const parts: Buffer[] = [];
      answer.on('data', (part) => parts.push(part));
      answer.on('end', () => {
        const body = Buffer.concat(parts).toString();
        resolve({ statusCode: answer.statusCode!, headers: gathered(answer.rawHeaders), body, json: () => JSON.parse(body) });
        asking.destroy();
      });
    });
    // Who is refused before all was sent has an answer all the same.
    asking.on('error', reject).end(payload);
  });
}

function gathered(rawHeaders: readonly string[]): Record<string, string | string[]> {
  const all: Record<string, string | string[]> = {};
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase();
    const before = all[name];
    all[name] = before === undefined ? rawHeaders[i + 1]! : [before, rawHeaders[i + 1]!].flat();
  }
  return all;
}
