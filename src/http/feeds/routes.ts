import type { ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { errorAnswer, write } from '../answer.ts';
import type { Gate } from '../auth/gate.ts';
import type { HttpFault } from '../errors.ts';
import { targetOf } from '../routes.ts';
import type { Shortcut } from '../server.ts';
import type { AnswerFeed } from './answer.ts';
import type { FeedAnswer } from './headers.ts';
import { readFeedTarget } from './target.ts';

const METHODS = ['GET', 'HEAD'];

/** What the feed endpoints need. */
export interface FeedRouteParts {
  readonly gate: Gate;
  readonly answer: AnswerFeed;
  /** Gets the errors that clients see only as 500. */
  readonly report: (error: unknown) => void;
}

/** The feed endpoints as routes, for callers who have yet to be authenticated. */
export function registerFeeds(app: FastifyInstance, { gate, answer }: FeedRouteParts): void {
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

/** Answers recognised callers before the router sees the request: polls of an unchanged feed are most of what the service does. */
export function feedShortcut({ gate, answer, report }: FeedRouteParts): Shortcut {
  return (request, response) => {
    const target = METHODS.includes(request.method!) ? readFeedTarget(request.url!) : undefined;
    const verdict = target && gate.admitRecognised(request.headers.authorization);
    if (verdict === undefined) return false;
    try {
      const answered = 'status' in verdict ? verdict : answer({ caller: verdict, ...target!, headers: request.headers });
      if (answered instanceof Promise) answered.then((ready) => finish(response, ready)).catch((error) => fail(response, error));
      else finish(response, answered);
    } catch (error) {
      fail(response, error);
    }
    return true;
  };

  function fail(response: ServerResponse, error: unknown): void {
    report(error);
    finish(response, { status: 500 });
  }
}

const finish = (response: ServerResponse, answered: FeedAnswer | HttpFault): void =>
  write(response, 'body' in answered ? answered : errorAnswer('feed', answered));
