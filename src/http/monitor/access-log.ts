/** A line of the log for each request (SPEC D16.1, D16.2). */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { withoutSecrets } from '../../account/secrets.ts';
import { statusOf } from './request-watch.ts';

/** What is logged of a request that was answered, or given up: then `status` is 0. */
export interface AccessLine {
  readonly method: string;
  /** As metrics call it: an address as it was sent may hold anything. */
  readonly route: string;
  readonly status: number;
  readonly ms: number;
  /** Of the body that was sent. */
  readonly bytes: number;
  readonly key_id: string | undefined;
  readonly address: string;
  readonly request_id: string;
}

export interface AccessLog {
  /** Gives a request its id, which the answer shows. */
  begin(request: IncomingMessage, response: ServerResponse): void;
  /** Whose request it is. */
  identify(request: IncomingMessage, keyId: string): void;
  /** The id of a request that has begun. */
  idOf(request: IncomingMessage): string | undefined;
  /** Writes the line. It took `ms`. */
  end(request: IncomingMessage, response: ServerResponse, ms: number, route: string): void;
}

/** Ids that proxies and clients give, and that a log takes as they are. */
const SANE = /^[\w.:/+=@-]{1,128}$/;

/** An access log. `addressOf` tells the address of a client. */
export function accessLog(write: (line: AccessLine) => void, addressOf: (request: IncomingMessage) => string): AccessLog {
  const requests = new WeakMap<IncomingMessage, { readonly id: string; readonly address: string; keyId: string | undefined }>();
  return {
    begin(request, response) {
      const id = saneId(request.headers['x-request-id']) ?? randomUUID();
      response.setHeader('X-Request-Id', id);
      // A connection that is gone has no address any more.
      requests.set(request, { id, address: addressOf(request), keyId: undefined });
    },
    identify(request, keyId) {
      const known = requests.get(request);
      if (known !== undefined) known.keyId = keyId;
    },
    idOf: (request) => requests.get(request)?.id,
    end(request, response, ms, route) {
      const { id, address, keyId } = requests.get(request)!;
      write({
        method: request.method!,
        route,
        status: statusOf(response),
        ms: Math.round(ms * 1000) / 1000,
        bytes: bodyBytes(request, response),
        key_id: keyId,
        address,
        request_id: id,
      });
    },
  };
}

/** An id that a client gave, where it is short, plain and no key. */
const saneId = (given: string | string[] | undefined): string | undefined =>
  typeof given === 'string' && SANE.test(given) && withoutSecrets(given) === given ? given : undefined;

function bodyBytes({ method }: IncomingMessage, response: ServerResponse): number {
  if (!response.headersSent || method === 'HEAD' || response.statusCode === 304) return 0;
  return Number(response.getHeader('content-length') ?? 0);
}
