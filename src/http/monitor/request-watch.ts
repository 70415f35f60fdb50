import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpCounts } from '../../ports/http-counts.ts';
import { countRequest } from '../counts.ts';

/** `ms`: duration. `route`: label in metrics. */
export interface RequestWatch {
  readonly begin?: (request: IncomingMessage, response: ServerResponse, route: string) => void;
  readonly end: (request: IncomingMessage, response: ServerResponse, ms: number, route: string) => void;
}

/** 0: never answered. */
export const statusOf = ({ headersSent, statusCode }: ServerResponse): number => (headersSent ? statusCode : 0);

export const requestCount = (counts: Pick<HttpCounts, 'requests'>): RequestWatch => ({
  end: (_request, response, ms, route) => countRequest(counts, route, statusOf(response), ms / 1000),
});
