/** The sockets of the HTTP server: how connections are accepted, drained and closed, and what one reads that sends no HTTP. */
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { errorAnswer } from './answer.ts';
import type { HttpFault } from './errors.ts';
import { MALFORMED } from './signals/submit.ts';

/** How long a request may take to arrive, ms. */
const REQUEST_TIMEOUT = 120_000;
/** How long an idle connection stays open, ms. */
const KEEP_ALIVE = 75_000;
/** How long a server that closes may go on accepting connections, ms. */
const LAST_ACCEPTS = 500;
/** How often a server that closes looks for connections that have become idle, ms. */
const CLOSE_IDLE = 50;

/** Answers a request before the router sees it; false leaves the request to the router. */
export type Shortcut = (request: IncomingMessage, response: ServerResponse) => boolean;

/** A server that offers each request to `shortcut` first. While the process drains, each answer ends its connection. */
export function createHttpServer(handler: RequestListener, shortcut: Shortcut | undefined, draining: () => boolean): Server {
  // Polls have no body: a tenth of their time went into ending the stream of it.
  const options = { requestTimeout: REQUEST_TIMEOUT, keepAliveTimeout: KEEP_ALIVE, optimizeEmptyRequests: true };
  const answer: RequestListener = (request, response) => {
    // A client that sends its next request while its connection is being closed would lose it.
    if (draining()) response.shouldKeepAlive = false;
    if (!shortcut?.(request, response)) handler(request, response);
  };
  // `100 Continue` is sent by whoever reads the body. Where nobody does, its bytes may or may not come: the connection ends.
  return createServer(options, answer).on('checkContinue', (request, response) => {
    response.shouldKeepAlive = false;
    answer(request, response);
  });
}

/** Closes a server without resetting any client that has connected. Resolves when the last answer is sent. */
export async function closeServer(server: Server): Promise<void> {
  await acceptWaiting(server);
  // Connections whose last request was under way would stay open until they time out.
  const timer = setInterval(() => server.closeIdleConnections(), CLOSE_IDLE);
  await new Promise((resolve) => server.close(resolve));
  clearInterval(timer);
}

/** Resolves once a turn of the event loop has accepted no connection: those that still wait when a server closes are reset. */
async function acceptWaiting(server: Server): Promise<void> {
  const deadline = performance.now() + LAST_ACCEPTS;
  let accepted = true;
  const note = () => {
    accepted = true;
  };
  server.on('connection', note);
  await turn();
  while (accepted && performance.now() < deadline) {
    accepted = false;
    await turn();
  }
  server.off('connection', note);
}

/** What the parser found wrong, by its error code; anything else is malformed. */
const CONNECTION_FAULTS: Record<string, HttpFault> = {
  HPE_HEADER_OVERFLOW: { status: 431 },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408 },
};

/** Answers bytes that are no HTTP request and ends the connection. No address is known yet, so the error has the signal shape. */
export function refuseConnection(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const { status, headers, body } = errorAnswer('signal', CONNECTION_FAULTS[error.code ?? ''] ?? MALFORMED);
  const lines = headers.map((text, i) => (i % 2 === 0 ? `${text}: ` : `${text}\r\n`));
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}Connection: close\r\n\r\n${body}`);
}
