/** The sockets of the HTTP server: how connections are accepted, drained and closed, and what one reads that sends no HTTP. */
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

// An import of values would load all that this module offers, such as the client of WebSockets.
const { createServer, STATUS_CODES } = process.getBuiltinModule('node:http');

/** How long a request may take to arrive, and its headers alone, ms. */
const REQUEST_TIMEOUT = 120_000;
const HEADERS_TIMEOUT = 20_000;
/** How often both are looked at, ms. */
const TIMEOUT_CHECK = 10_000;
/** How long an idle connection stays open, ms. */
const KEEP_ALIVE = 75_000;
/** How long a client whose request was refused may leave its connection open, ms. */
const LINGER = 2_000;
/** How long the handshake of TLS may take, ms; less than stopping may take. */
const HANDSHAKE_TIMEOUT = 5_000;
/** How long a server that closes may go on accepting connections, ms. */
const LAST_ACCEPTS = 500;
/** A turn of the event loop that did nothing takes less, ms. */
const SHORT_TURN = 0.1;
/** How often a server that closes looks for connections that have become idle, ms. */
const CLOSE_IDLE = 50;

/** What a server is made of. */
export interface ServerParts {
  /** Answers requests; with `fault`, where HTTP itself refuses one, with that. */
  readonly handler: Serve;
  /** While it says so, each answer ends its connection. */
  readonly draining: () => boolean;
  /** With these it speaks TLS, else plain HTTP. */
  readonly tls?: TlsSource | undefined;
}

/** A server with our limits of time, and our answers to what is no proper HTTP. */
export function createHttpServer({ handler, draining, tls }: ServerParts): Server {
  const options = {
    requestTimeout: REQUEST_TIMEOUT,
    headersTimeout: HEADERS_TIMEOUT,
    connectionsCheckingInterval: TIMEOUT_CHECK,
    keepAliveTimeout: KEEP_ALIVE,
    // Polls have no body, and need no stream of it.
    optimizeEmptyRequests: true,
    // Node's own answer has no body.
    requireHostHeader: false,
  };
  const answer = inTurn((request, response) => {
    // A client that sends its next request while its connection is being closed would lose it.
    if (draining()) response.shouldKeepAlive = false;
    request.url = plainTarget(request.url!);
    handler(request, response, namesOneHost(request) ? undefined : WRONG_HOST);
  });
  const server = tls === undefined ? createServer(options, answer) : tlsServer(options, tls, answer);
  // `100 Continue` is sent by whoever reads the body. Where nobody does, its bytes may or may not come: the connection ends.
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

/**
 * Answers the requests of a connection one after the other. A client may send thousands in one piece: begun at once, each would hold
 * what its answer needs until all before it are sent.
 */
function inTurn(answer: RequestListener): RequestListener {
  return (request, response) => {
    // Node gives a response its socket when the one before it is sent.
    if (response.socket !== null) answer(request, response);
    else response.once('socket', () => answer(request, response));
  };
}

/** What TLS is spoken with (SPEC D12.13): forward-secret suites that authenticate what they encrypt. */
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

/** The same over TLS. Newer certificates are for new connections. */
function tlsServer(options: ServerOptions, tls: TlsSource, answer: RequestListener): Server {
  const asksClients = tls.current().ca !== undefined;
  const own = { handshakeTimeout: HANDSHAKE_TIMEOUT, requestCert: asksClients, rejectUnauthorized: asksClients };
  const server = createTlsServer({ ...options, ...own, ...SUITES, ...tls.current() }, (request, response) => {
    response.setHeader(...HSTS);
    answer(request, response);
  });
  tls.onChange((material) => server.setSecureContext({ ...SUITES, ...material }));
  // Who speaks no TLS cannot read an answer: Node would have it written all the same.
  return server.removeAllListeners('tlsClientError').on('tlsClientError', (_error, socket) => socket.destroy());
}

const WRONG_HOST = badRequest([{ field: 'Host', message: 'must be sent exactly once', value: null }]);
const UNKNOWN_EXPECTATION: HttpFault = { status: 417 };

/** Whether a request has one Host header; only HTTP/1.0 may leave it out (RFC 9112, 3.2). Two are two opinions of who is asked. */
function namesOneHost({ rawHeaders, httpVersionMinor }: IncomingMessage): boolean {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts === 1 || (hosts === 0 && httpVersionMinor === 0);
}

/** Closes a server without resetting any client that has connected. Resolves when the last answer is sent. */
export async function closeServer(server: Server): Promise<void> {
  await acceptWaiting(server);
  // Connections whose last request was under way would stay open until they time out.
  const timer = setInterval(() => server.closeIdleConnections(), CLOSE_IDLE);
  await new Promise((resolve) => server.close(resolve));
  clearInterval(timer);
}

/**
 * Resolves in a turn of the event loop that has accepted no connection and was over at once: connections that arrive between the
 * last accept and the close are reset, and what else a turn does makes that time longer.
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

/** What the parser found wrong, by its error code; anything else is malformed. */
const CONNECTION_FAULTS: Record<string, HttpFault> = {
  HPE_HEADER_OVERFLOW: { status: 431 },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408 },
};

/** The beginning of a request, with its target. */
const REQUEST_LINE = /^[A-Z]+ (\S+)/;
/** Bytes of what arrived in which a target is looked for. */
const LINE_BYTES = 1024;

/** Answers bytes that are no HTTP request and ends the connection. Where they do not begin with an address, the error has the signal shape. */
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
  // A client that goes on sending would keep it open for good.
  const timer = setTimeout(() => socket.destroy(), LINGER);
  socket.once('close', () => clearTimeout(timer));
}
