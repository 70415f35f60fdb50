/** The addresses that are polled, as routes: feeds, rules, the configuration of agents. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { Caller } from '../../account/caller.ts';
import type { Instant } from '../../clock.ts';
import { errorAnswer, write } from '../answer.ts';
import type { Gate } from '../auth/gate.ts';
import type { Group, HttpFault } from '../errors.ts';
import { targetOf } from '../routes.ts';
import type { Shortcut } from '../server.ts';
import type { AnswerFeed } from './answer.ts';
import type { Answered, DocumentHeaders } from './document.ts';
import type { FeedAnswer } from './headers.ts';
import { readFeedTarget } from './target.ts';

const METHODS = ['GET', 'HEAD'];

/** A group of addresses that are polled. */
export interface PolledEndpoint {
  readonly group: Group;
  readonly gate: Gate;
  /** The addresses as Fastify writes them. */
  readonly urls: readonly string[];
  /** What answers a request target once its caller is known, as of `at` (now when absent); undefined for any other address. */
  read(target: string): ((caller: Caller, headers: DocumentHeaders, at?: Instant) => Answered) | undefined;
}

/** Is told of each poll by a key that is valid, once it is answered; it arrived at `at`, or just now when that is absent. */
export type OnPoll = (request: IncomingMessage, key: NonNullable<HttpFault['by']>, answered: FeedAnswer | HttpFault, at?: Instant) => void;

/** The feeds. */
export const feedRoutes = (gate: Gate, answer: AnswerFeed): PolledEndpoint => ({
  group: 'feed',
  gate,
  urls: ['/v1/threat/feeds', '/v1/threat/feeds/:list'],
  read(target) {
    const feed = readFeedTarget(target);
    return feed && ((caller, headers, at) => answer({ caller, list: feed.list, query: feed.query, headers, at }));
  },
});

/** The endpoints as routes, for callers who have yet to be authenticated. */
export function registerPolled(app: FastifyInstance, endpoints: readonly PolledEndpoint[], onPoll: OnPoll): void {
  for (const { group, gate, urls, read } of endpoints) {
    for (const url of urls) {
      app.route({
        method: METHODS,
        url,
        async handler(request, reply) {
          const answer = read(targetOf(request.url));
          const verdict = answer === undefined ? ({ status: 404 } as const) : await gate.admit(request);
          const answered = 'status' in verdict ? verdict : await answer!(verdict, request.headers);
          reply.hijack();
          finish(reply.raw, group, answered);
          tell(onPoll, request.raw, verdict, answered);
        },
      });
    }
  }
}

/**
 * Answers recognised callers before the router sees the request: polls of what is unchanged are most of what the service does. `report`
 * gets the errors that clients see only as 500.
 */
export function polledShortcut(endpoints: readonly PolledEndpoint[], report: (error: unknown) => void, onPoll: OnPoll): Shortcut {
  return (request, response, at) => {
    if (!METHODS.includes(request.method!)) return false;
    for (const { group, gate, read } of endpoints) {
      const answer = read(request.url!);
      if (answer === undefined) continue;
      const verdict = gate.admitRecognised(request.headers.authorization, request.socket, at);
      if (verdict === undefined) return false;
      try {
        const answered = 'status' in verdict ? verdict : answer(verdict, request.headers, at);
        if (answered instanceof Promise) settleLater(request, response, group, verdict, answered);
        else {
          finish(response, group, answered);
          tell(onPoll, request, verdict, answered, at);
        }
      } catch (error) {
        fail(response, group, error);
      }
      return true;
    }
    return false;
  };

  function settleLater(
    request: IncomingMessage,
    response: ServerResponse,
    group: Group,
    verdict: Caller | HttpFault,
    answered: Promise<FeedAnswer | HttpFault>,
  ): void {
    answered
      .then((ready) => {
        finish(response, group, ready);
        tell(onPoll, request, verdict, ready);
      })
      .catch((error) => fail(response, group, error));
  }

  function fail(response: ServerResponse, group: Group, error: unknown): void {
    report(error);
    finish(response, group, { status: 500 });
  }
}

function tell(onPoll: OnPoll, request: IncomingMessage, verdict: Caller | HttpFault, answered: FeedAnswer | HttpFault, at?: Instant): void {
  const key = 'status' in verdict ? verdict.by : verdict;
  if (key !== undefined) onPoll(request, key, answered, at);
}

const finish = (response: ServerResponse, group: Group, answered: FeedAnswer | HttpFault): void =>
  write(response, 'body' in answered ? answered : errorAnswer(group, answered));
