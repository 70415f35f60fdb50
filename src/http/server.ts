/** Accept, drain, close, and responses to invalid HTTP. */
import { constants } from 'node:crypto';
import type { IncomingMessage, RequestListener, Server, ServerOptions } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { TLSSocket } from 'node:tls';
import type { TlsSource } from '../ports/tls.ts';
import { errorAnswer } from './answer.ts';
import { badRequest, type HttpFault, malformedIn } from './errors.ts';
import { groupOf } from './router.ts';
import type { Serve } from './serve.ts';
import { plainTarget } from './target.ts';

// An import of values would load the complete module, including the WebSocket client.
const { createServer, STATUS_CODES } = process.getBuiltinModule('node:http');

/** For requests, and for headers alone, ms. */
const REQUEST_TIMEOUT = 120_000;
const HEADERS_TIMEOUT = 20_000;
/** Check interval of both, ms. */
const TIMEOUT_CHECK = 10_000;
/** Idle timeout, ms. */
const KEEP_ALIVE = 75_000;
/** Time for a client with a refused request to close, ms. */
const LINGER = 2_000;
/** Limit of a TLS handshake, ms; less than the time to stop. */
const HANDSHAKE_TIMEOUT = 5_000;
/** How long a closing server may still accept connections, ms. */
const LAST_ACCEPTS = 500;
/** A turn of the event loop without work takes less, ms. */
const SHORT_TURN = 0.1;
/** Check interval while stopping, ms. */
const CLOSE_IDLE = 50;

export interface ServerParts {
  readonly handler: Serve;
  /** If true, each response closes its connection. */
  readonly draining: () => boolean;
  /** undefined: plain HTTP. */
  readonly tls?: TlsSource | undefined;
}

export function createHttpServer({ handler, draining, tls }: ServerParts): Server {
  const options = {
    requestTimeout: REQUEST_TIMEOUT,
    headersTimeout: HEADERS_TIMEOUT,
    connectionsCheckingInterval: TIMEOUT_CHECK,
    keepAliveTimeout: KEEP_ALIVE,
    // Polls have no body and need no stream.
    optimizeEmptyRequests: true,
    // Node's own response has no body.
    requireHostHeader: false,
  };
  const answer = inTurn((request, response) => {
    // Otherwise a client could lose a request sent while its connection closes.
    if (draining()) response.shouldKeepAlive = false;
    request.url = plainTarget(request.url!);
    handler(request, response, namesOneHost(request) ? undefined : WRONG_HOST);
  });
  const server = tls === undefined ? createServer(options, answer) : tlsServer(options, tls, answer);
  // The reader of the body sends `100 Continue`. If nothing reads it, the state of the connection is unknown: close it.
  server.on('checkContinue', (request, response) => {
    response.shouldKeepAlive = false;
    answer(request, response);
  });
  server.on(
    'checkExpectation',
    inTurn((request, response) => handler(request, response, UNKNOWN_EXPECTATION)),
  );
  return server.on('clientError', refuseConnection);
}

/** A client may send thousands at once, and each would hold its response until all before it are sent. */
function inTurn(answer: RequestListener): RequestListener {
  return (request, response) => {
    // Node assigns the socket when the previous response is sent.
    if (response.socket !== null) answer(request, response);
    else response.once('socket', () => answer(request, response));
  };
}

/** Forward-secret, with authenticated encryption (SPEC D12.13). */
const SUITES = {
  minVersion: 'TLSv1.2',
  ciphers: [
    'TLS_AES_256_GCM_SHA384',
    'TLS_CHACHA20_POLY1305_SHA256',
    'TLS_AES_128_GCM_SHA256',
    'ECDHE-ECDSA-AES128-GCM-SHA256',
    'ECDHE-RSA-AES128-GCM-SHA256',
    'ECDHE-ECDSA-AES256-GCM-SHA384',
    'ECDHE-RSA-AES256-GCM-SHA384',
    'ECDHE-ECDSA-CHACHA20-POLY1305',
    'ECDHE-RSA-CHACHA20-POLY1305',
  ].join(':'),
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
} as const;
const HSTS = ['Strict-Transport-Security', 'max-age=31536000'] as const;

function tlsServer(options: ServerOptions, tls: TlsSource, answer: RequestListener): Server {
  const asksClients = tls.current().ca !== undefined;
  const own = { handshakeTimeout: HANDSHAKE_TIMEOUT, requestCert: asksClients, rejectUnauthorized: asksClients };
  const server = createTlsServer({ ...options, ...own, ...SUITES, ...tls.current() }, (request, response) => {
    response.setHeader(...HSTS);
    answer(request, response);
  });
  tls.onChange((material) => server.setSecureContext({ ...SUITES, ...material }));
  // A client without TLS cannot read a response, but Node would write one.
  return server.removeAllListeners('tlsClientError').on('tlsClientError', (_error, socket) => socket.destroy());
}

const WRONG_HOST = badRequest([{ field: 'Host', message: 'must be sent exactly once', value: null }]);
const UNKNOWN_EXPECTATION: HttpFault = { status: 417 };

/** RFC 9112, 3.2: one Host header; only HTTP/1.0 may omit it. */
function namesOneHost({ rawHeaders, httpVersionMinor }: IncomingMessage): boolean {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts === 1 || (hosts === 0 && httpVersionMinor === 0);
}

/** Resets no connected client. Resolves after the last response. */
export async function closeServer(server: Server): Promise<void> {
  await acceptWaiting(server);
  // Connections busy at the close would stay open until their timeout.
  const timer = setInterval(() => server.closeIdleConnections(), CLOSE_IDLE);
  await new Promise((resolve) => server.close(resolve));
  clearInterval(timer);
}

/**
 * Resolves in a short turn of the event loop without new connections. Connections that arrive between the last accept and the close are
 * reset; a long turn makes that more likely.
 */
async function acceptWaiting(server: Server): Promise<void> {
  const deadline = performance.now() + LAST_ACCEPTS;
  let accepted = false;
  const note = () => {
    accepted = true;
  };
  server.on('connection', note);
  for (let begun = performance.now(); begun < deadline; begun = performance.now()) {
    accepted = false;
    await turn();
    if (!accepted && performance.now() - begun < SHORT_TURN) break;
  }
  server.off('connection', note);
}

const CONNECTION_FAULTS: Record<string, HttpFault> = {
  HPE_HEADER_OVERFLOW: { status: 431 },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408 },
};

const REQUEST_LINE = /^[A-Z]+ (\S+)/;
const LINE_BYTES = 1024;

export function refuseConnection(error: Error & { code?: string; rawPacket?: unknown }, socket: Socket): void {
  const { code, rawPacket } = error;
  if (code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const arrived = Buffer.isBuffer(rawPacket) ? rawPacket.toString('latin1', 0, LINE_BYTES) : '';
  const group = groupOf(REQUEST_LINE.exec(arrived)?.[1] ?? '');
  const { status, headers: own, body } = errorAnswer(group, CONNECTION_FAULTS[code ?? ''] ?? malformedIn(group));
  const headers = socket instanceof TLSSocket ? [...own, ...HSTS] : own;
  const lines = headers.map((text, i) => (i % 2 === 0 ? `${text}: ` : `${text}\r\n`));
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}Date: ${new Date().toUTCString()}\r\nConnection: close\r\n\r\n${body}`,
  );
  // A client that keeps sending would keep the connection open.
  const timer = setTimeout(() => socket.destroy(), LINGER);
  socket.once('close', () => clearTimeout(timer));
}
