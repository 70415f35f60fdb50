/** HTTP as it is on the wire: targets and headers are sent as written, nothing is asked for or decoded on the way. */
import { request } from 'node:http';

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

export interface Question {
  readonly method?: string;
  readonly headers?: Headers;
  readonly body?: string;
}

/** Asks the server at `base` for a target, which may be anything that fits into a request line. */
export async function ask(base: string, target: string, { method = 'GET', headers = {}, body }: Question = {}): Promise<Reply> {
  const { hostname, port } = new URL(base);
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
