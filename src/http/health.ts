import type { FastifyInstance } from 'fastify';
import type { Readiness } from '../ports/health.ts';
import { type Answer, jsonAnswer, send } from './answer.ts';

const METHODS = ['GET', 'HEAD'];

/** `/healthz`: 200 while the process runs. `/readyz`: 200 when every check is green, else 503; the body shows the checks. */
export function registerHealth(app: FastifyInstance, readiness: Readiness): void {
  app.route({ method: METHODS, url: '/healthz', handler: (_request, reply) => send(reply, health(200, { status: 'ok' })) });
  app.route({
    method: METHODS,
    url: '/readyz',
    async handler(_request, reply) {
      const checks = await readiness();
      const ready = Object.values(checks).every(({ ok }) => ok);
      send(reply, health(ready ? 200 : 503, { status: ready ? 'ready' : 'not ready', checks }));
    },
  });
}

const health = (status: number, value: object): Answer => jsonAnswer(status, JSON.stringify(value), { 'Cache-Control': 'no-store' });
