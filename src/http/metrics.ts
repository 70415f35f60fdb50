/** The page that Prometheus reads (SPEC D12.1, D12.2). */
import { hash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { type Answer, errorAnswer, NO_SNIFFING, write } from './answer.ts';
import { CHALLENGES, readKey } from './auth/credentials.ts';
import { pathOf } from './routes.ts';
import { closeServer, createHttpServer, refuseConnection } from './server.ts';

const PATH = '/metrics';
/** The text format of Prometheus. */
const TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** The metrics, and who may read them. */
export interface MetricsPage {
  /** The page as text. */
  readonly render: () => Promise<string>;
  /** The Bearer token that is asked for; undefined: none is. */
  readonly token: string | undefined;
  /** Gets the errors that clients see only as 500. */
  readonly report: (error: unknown) => void;
}

/** The page on the port of the service, which is for many: only with a token. */
export function registerMetrics(app: FastifyInstance, page: MetricsPage): void {
  const listener = metricsListener(page);
  app.all(PATH, (request, reply) => {
    reply.hijack();
    listener(request.raw, reply.raw);
  });
}

/** Serves the page on a port of its own. Resolves with the port once it listens; rejects when it cannot. */
export async function startMetricsServer(
  page: MetricsPage,
  { host, port }: { readonly host: string; readonly port: number },
  draining: () => boolean,
): Promise<{ readonly port: number; close(): Promise<void> }> {
  const server = createHttpServer({ handler: metricsListener(page), draining }).on('clientError', refuseConnection);
  server.listen(port, host);
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, close: () => closeServer(server) };
}

/** Answers requests for the page, and for nothing else. */
export function metricsListener({ render, token, report }: MetricsPage): RequestListener {
  const digest = token === undefined ? undefined : hash('sha256', token, 'buffer');
  const isReader = (authorization: string | undefined) => {
    const shown = readKey('signal', authorization);
    return digest === undefined || (shown !== undefined && timingSafeEqual(hash('sha256', shown, 'buffer'), digest));
  };

  async function answerTo({ url, method, headers }: Parameters<RequestListener>[0]): Promise<Answer> {
    if (pathOf(url!) !== PATH) return errorAnswer('signal', { status: 404 });
    if (method !== 'GET' && method !== 'HEAD') {
      return errorAnswer('signal', { status: 405, message: 'Method not allowed, use GET or HEAD', headers: { Allow: 'GET, HEAD' } });
    }
    if (!isReader(headers.authorization)) {
      return errorAnswer('signal', {
        status: 401,
        message: 'Invalid or missing token',
        headers: { 'WWW-Authenticate': CHALLENGES.signal },
      });
    }
    const body = Buffer.from(await render());
    const own = ['Content-Type', TYPE, 'Content-Length', String(body.length), 'Cache-Control', 'no-store', ...NO_SNIFFING];
    return { status: 200, headers: own, body };
  }

  return (request, response) => {
    answerTo(request)
      .catch((error) => {
        report(error);
        return errorAnswer('signal', { status: 500 });
      })
      .then((answer) => write(response, answer))
      .catch(report);
  };
}
