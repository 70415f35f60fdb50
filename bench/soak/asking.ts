/** Requests of a soak: what each kind of client waited, and answers that should not have been. */
import { Agent, request } from 'node:http';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly text: string;
}

interface Question {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  /** A connection that stays open; without it each request comes on a new one. */
  readonly agent?: Agent;
}

export interface Asking {
  /** Asks; counts how long it took as `kind`, and what is not one of the statuses that may be as a fault. Resolves with undefined then. */
  ask(kind: string, url: string, statuses: readonly number[], question?: Question): Promise<Answer | undefined>;
  /** ms of each answer since the last call, by kind. */
  taken(): Map<string, number[]>;
  /** How often what went wrong, since the beginning. */
  readonly faults: ReadonlyMap<string, number>;
  /** Requests so far that were answered as they should be. */
  answered(): number;
}

/** How long an answer may take, ms. */
const PATIENCE = 60_000;

export function asking(): Asking {
  let waits = new Map<string, number[]>();
  const faults = new Map<string, number>();
  let good = 0;
  const fault = (what: string) => void faults.set(what, (faults.get(what) ?? 0) + 1);
  return {
    faults,
    answered: () => good,
    taken() {
      const taken = waits;
      waits = new Map();
      return taken;
    },
    async ask(kind, url, statuses, question = {}) {
      const sent = performance.now();
      try {
        const answer = await send(url, question);
        if (!statuses.includes(answer.status)) {
          fault(`${kind}: ${answer.status} ${answer.text.slice(0, 120)}`);
          return undefined;
        }
        const all = waits.get(kind);
        const took = performance.now() - sent;
        if (all === undefined) waits.set(kind, [took]);
        else all.push(took);
        good += 1;
        return answer;
      } catch (error) {
        fault(`${kind}: ${(error as Error).message}`);
        return undefined;
      }
    },
  };
}

function send(url: string, { method = 'GET', headers = {}, body, agent }: Question): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const sending = request(url, { method, headers: { ...headers, ...length }, agent: agent ?? false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text: Buffer.concat(chunks).toString() }),
      );
    });
    sending.setTimeout(PATIENCE, () => sending.destroy(new Error(`no answer within ${PATIENCE / 1000} s`)));
    sending.on('error', reject).end(body);
  });
}

/** A connection that stays open. */
export const lane = (): Agent => new Agent({ keepAlive: true, maxSockets: 1 });
