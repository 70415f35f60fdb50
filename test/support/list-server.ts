/** A web server that publishes lists as servers in the wild do: careless ones and hostile ones. */
import { hash } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGzip, gzipSync } from 'node:zlib';

/** What is asked for at an address that was set. */
export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

export interface ListServer extends AsyncDisposable {
  readonly url: string;
  /** Sets what is behind a path from now on. */
  set(path: string, answer: Answer): void;
  /** Requests so far, by path. */
  readonly asked: Map<string, number>;
  /** The headers of the last request, by path. */
  readonly headers: Map<string, IncomingMessage['headers']>;
  /** Answers under way, and the most that there were at once, by path. */
  readonly most: Map<string, number>;
}

/** `host`: where it listens; its `url` names 127.0.0.1 in any case. */
export async function listServer(host = '127.0.0.1'): Promise<ListServer> {
  const answers = new Map<string, Answer>();
  const [asked, most, open] = [new Map<string, number>(), new Map<string, number>(), new Map<string, number>()];
  const headers: ListServer['headers'] = new Map();
  const listener: RequestListener = (request, response) => {
    const path = request.url!;
    asked.set(path, (asked.get(path) ?? 0) + 1);
    headers.set(path, request.headers);
    open.set(path, (open.get(path) ?? 0) + 1);
    most.set(path, Math.max(most.get(path) ?? 0, open.get(path)!));
    response.once('close', () => open.set(path, open.get(path)! - 1));
    response.on('error', () => undefined);
    (answers.get(path) ?? status(404))(request, response);
  };
  const server = createServer(listener).listen(0, host);
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    set: (path, answer) => void answers.set(path, answer),
    asked,
    headers,
    most,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A text with an entity tag, as a good server has it. */
export const list = (text: string, more: Record<string, string> = {}): Answer => {
  const etag = `"${hash('sha256', text, 'base64url')}"`;
  return (request, response) => {
    if (request.headers['if-none-match'] === etag) response.writeHead(304, { etag }).end();
    else response.writeHead(200, { etag, ...more }).end(text);
  };
};

/** A text without anything by which it could be known again. */
export const bare =
  (text: string): Answer =>
  (_, response) =>
    void response.end(text);

export const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (_, response) =>
    void response.writeHead(code, headers).end();

export const redirect = (location: string): Answer => status(301, { location });

/** The beginning of a text, and then the connection is gone; `length`: with the length of the whole. */
export const cut =
  (text: string, at: number, length: boolean): Answer =>
  (request, response) => {
    response.writeHead(200, length ? { 'content-length': text.length } : {}).write(text.slice(0, at));
    setTimeout(() => request.socket.destroy(), 5);
  };

/** The beginning of a text as if it were the whole, as a server does that was cut itself. */
export const short = (text: string, at: number): Answer => bare(text.slice(0, at));

/** Answers nothing. */
export const silent: Answer = () => undefined;

/** A byte from time to time. */
export const dripping =
  (text: string, ms: number): Answer =>
  (_, response) => {
    let at = 0;
    const timer = setInterval(() => (at < text.length ? response.write(text[at++]!) : response.end()), ms);
    response.once('close', () => clearInterval(timer));
  };

/** Few bytes that become very many: `mebibytes` of one address, packed. */
export const bomb = (mebibytes: number): Answer => {
  const packed = gzipSync(Buffer.alloc(2 ** 20, '192.0.2.1\n'), { level: 9 });
  return (_, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' });
    response.end(Buffer.concat(Array.from({ length: mebibytes }, () => packed)));
  };
};

/** `mebibytes` of addresses that are all different, as fast as they are taken. */
export const huge =
  (mebibytes: number, packed = false): Answer =>
  (_, response) => {
    response.writeHead(200, packed ? { 'content-encoding': 'gzip' } : {});
    const to = packed ? createGzip({ level: 1 }) : response;
    if (packed) (to as ReturnType<typeof createGzip>).pipe(response);
    let [sent, n] = [0, 0];
    const more = () => {
      while (sent < mebibytes * 2 ** 20 && !response.destroyed) {
        const lines = Array.from({ length: 4096 }, () => address(n++));
        const piece = `${lines.join('\n')}\n`;
        sent += piece.length;
        if (!to.write(piece)) return void to.once('drain', more);
      }
      to.end();
    };
    more();
  };

/** The n-th of many addresses that are no one's neighbours and public. */
export const address = (n: number): string => {
  const spread = (n * 2) % (80 * 2 ** 16);
  return `${20 + Math.floor(spread / 2 ** 24)}.${(spread >>> 16) & 255}.${(spread >>> 8) & 255}.${spread & 255}`;
};

/** One text, then another, then the first again. */
export const alternating = (...texts: readonly string[]): Answer => {
  let n = 0;
  return (request, response) => bare(texts[n++ % texts.length]!)(request, response);
};

/** A server whose clock is its own: each answer is of another time, and none is ever older than what is asked for. */
export const ownClock = (text: string, ms: number): Answer => {
  let at = Date.UTC(2031, 0, 1);
  return (_, response) => {
    at += ms;
    response.writeHead(200, { 'last-modified': new Date(at).toUTCString() }).end(text);
  };
};
