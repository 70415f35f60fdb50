/** Asking a weir as its clients do: an answer that is whole, or none. */
import { Agent, request } from 'node:http';

/** How long a client waits, ms. */
const PATIENCE = 6000;

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
}

/** A promise of the contract that was broken. */
export class Violation extends Error {}

/** Throws a violation unless it holds. */
export function must(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Violation(what);
}

export interface Client {
  /** Undefined where no whole answer came; rejects once it is closed. */
  ask(path: string, options?: { method?: string; headers?: Record<string, string>; body?: unknown }): Promise<Reply | undefined>;
  close(): void;
}

/** A client of a service on a port of this machine, with a connection of its own that it keeps; `patience`: how long it waits, ms. */
export function openClient(port: number, key: string, patience = PATIENCE): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let isClosed = false;
  return {
    ask: (path, { method = 'GET', headers = {}, body } = {}) =>
      new Promise((resolve, reject) => {
        if (isClosed) return reject(new Error('the client is closed'));
        const text = body === undefined ? undefined : JSON.stringify(body);
        const sent = request(
          {
            ...{ host: '127.0.0.1', port, path, method, agent, signal: AbortSignal.timeout(patience) },
            headers: { authorization: `Bearer ${key}`, ...(text && { 'content-length': Buffer.byteLength(text) }), ...headers },
          },
          (answer) => {
            const parts: Buffer[] = [];
            answer.on('data', (part: Buffer) => parts.push(part));
            answer.on('error', () => resolve(undefined));
            answer.on('end', () => {
              const all = Object.entries(answer.headersDistinct).map(([name, values]) => [name, values!.join(', ')]);
              resolve(
                answer.complete ? { status: answer.statusCode!, headers: Object.fromEntries(all), body: Buffer.concat(parts) } : undefined,
              );
            });
          },
        );
        sent.on('error', () => resolve(undefined));
        sent.end(text);
      }),
    close() {
      isClosed = true;
      agent.destroy();
    },
  };
}

/** What an answer of management says. */
// biome-ignore lint/suspicious/noExplicitAny: what a check looks for in an answer.
export const told = (reply: Reply): any => JSON.parse(reply.body.toString());
