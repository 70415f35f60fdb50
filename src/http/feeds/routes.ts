import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { errorAnswer, write } from '../answer.ts';
import type { Gate } from '../auth/gate.ts';
import type { HttpFault } from '../errors.ts';
import { targetOf } from '../routes.ts';
import { type AnswerFeed, type FeedAnswer, readFeedTarget } from './answer.ts';

const METHODS = ['GET', 'HEAD'];

export interface FeedParts {
  readonly gate: Gate;
  readonly answer: AnswerFeed;
  /** Is told what no client is. */
  readonly report: (error: unknown) => void;
}

/** The feed endpoints as routes, for callers who have yet to be authenticated. */
export function registerFeeds(app: FastifyInstance, { gate, answer }: FeedParts): void {
  for (const url of ['/v1/threat/feeds', '/v1/threat/feeds/:list']) {
    app.route({
      method: METHODS,
      url,
      async handler(request, reply) {
        const target = readFeedTarget(targetOf(request.url));
        const verdict = target === undefined ? ({ status: 404 } as const) : await gate.admit(request);
        const answered = 'status' in verdict ? verdict : await answer({ caller: verdict, ...target!, headers: request.headers });
        reply.hijack();
        finish(reply.raw, answered);
      },
    });
  }
}

/**
 * Answers recognised callers before any router sees the request: polls of an unchanged feed are most of what the service does.
 * False when a request has to go the long way.
 */
export function feedShortcut({ gate, answer, report }: FeedParts): (request: IncomingMessage, response: ServerResponse) => boolean {
  return (request, response) => {
    const target = METHODS.includes(request.method!) ? readFeedTarget(request.url!) : undefined;
    const verdict = target && gate.admitRecognised(request.headers.authorization);
    if (verdict === undefined) return false;
    try {
      const answered = 'status' in verdict ? verdict : answer({ caller: verdict, ...target!, headers: request.headers });
      if (answered instanceof Promise) answered.then((ready) => finish(response, ready)).catch(failed);
      else finish(response, answered);
    } catch (error) {
      failed(error);
    }
    return true;

    function failed(error: unknown): void {
      report(error);
      finish(response, { status: 500 });
    }
  };
}

const finish = (response: ServerResponse, answered: FeedAnswer | HttpFault) =>
  write(response, 'body' in answered ? answered : errorAnswer('feed', answered));
