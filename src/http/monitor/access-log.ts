/** SPEC D16.1, D16.2. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { withoutSecrets } from '../../account/secrets/in-text.ts';
import { statusOf } from './request-watch.ts';

/** `status` is 0 if the client disconnected first. */
export interface AccessLine {
  readonly method: string;
  /** The label in metrics: the raw path may contain anything. */
  readonly route: string;
  readonly status: number;
  readonly ms: number;
  readonly bytes: number;
  readonly key_id: string | undefined;
  readonly address: string;
  readonly request_id: string;
}

export interface AccessLog {
  begin(request: IncomingMessage, response: ServerResponse): void;
  identify(request: IncomingMessage, keyId: string): void;
  idOf(request: IncomingMessage): string | undefined;
  end(request: IncomingMessage, response: ServerResponse, ms: number, route: string): void;
}

const SANE = /^[\w.:/+=@-]{1,128}$/;

export function accessLog(write: (line: AccessLine) => void, addressOf: (request: IncomingMessage) => string): AccessLog {
  const requests = new WeakMap<IncomingMessage, { readonly id: string; readonly address: string; keyId: string | undefined }>();
  return {
    begin(request, response) {
      const id = saneId(request.headers['x-request-id']) ?? randomUUID();
      response.setHeader('X-Request-Id', id);
      // A closed connection has no address.
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

/** A client's id if it is short, plain and not a key. */
const saneId = (given: string | string[] | undefined): string | undefined =>
  typeof given === 'string' && SANE.test(given) && withoutSecrets(given) === given ? given : undefined;

function bodyBytes({ method }: IncomingMessage, response: ServerResponse): number {
  if (!response.headersSent || method === 'HEAD' || response.statusCode === 304) return 0;
  return Number(response.getHeader('content-length') ?? 0);
}
