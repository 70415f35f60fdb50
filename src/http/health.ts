import type { Readiness } from '../ports/health.ts';
import { type Answer, jsonAnswer } from './answer.ts';

/** `/healthz`. */
export const alive = (): Answer => health(200, { status: 'ok' });

/** `/readyz`: 503 unless every check passes. */
export const ready = (readiness: Readiness) => async (): Promise<Answer> => {
  const checks = await readiness();
  const isReady = Object.values(checks).every(({ ok }) => ok);
  return health(isReady ? 200 : 503, { status: isReady ? 'ready' : 'not ready', checks });
};

const health = (status: number, value: object): Answer => jsonAnswer(status, JSON.stringify(value), { 'Cache-Control': 'no-store' });
