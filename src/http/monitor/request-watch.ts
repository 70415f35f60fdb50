/** Watching requests from their headers to the end of their answers. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpCounts } from '../../ports/http-counts.ts';
import { countRequest } from '../counts.ts';

/** Is told of a request when it comes, and when its answer is complete or given up; it took `ms`. `route`: as metrics call its address. */
export interface RequestWatch {
  readonly begin?: (request: IncomingMessage, response: ServerResponse, route: string) => void;
  readonly end: (request: IncomingMessage, response: ServerResponse, ms: number, route: string) => void;
}

/** The status of an answer; 0 where there was none. */
export const statusOf = ({ headersSent, statusCode }: ServerResponse): number => (headersSent ? statusCode : 0);

/** Counts requests for the metrics. */
export const requestCount = (counts: Pick<HttpCounts, 'requests'>): RequestWatch => ({
  end: (_request, response, ms, route) => countRequest(counts, route, statusOf(response), ms / 1000),
});
