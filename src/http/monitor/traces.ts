/** SPEC D16.4, D16.5. */
import type { IncomingMessage } from 'node:http';
import type { Span, Tracer } from '../../ports/trace.ts';
import { readTraceparent } from '../../signal/message/traceparent.ts';
import { type RequestWatch, statusOf } from './request-watch.ts';

/** The span of a request, as parent of further spans. */
export type TraceOf = (request: IncomingMessage) => string | undefined;

export const namedTrace: TraceOf = ({ headers }) => readTraceparent(headers.traceparent);

/** A span per request with signals, and per other request with a traceparent: polls would dominate all traces. */
export function requestTraces(tracer: Tracer): { readonly watch: RequestWatch; readonly traceOf: TraceOf } {
  const spans = new WeakMap<IncomingMessage, Span>();
  return {
    traceOf: (request) => spans.get(request)?.traceparent,
    watch: {
      begin(request, _response, route) {
        const parent = namedTrace(request);
        if (parent === undefined && request.method !== 'POST') return;
        spans.set(request, tracer.start(`${request.method} ${route}`, { kind: 'server', parent }));
      },
      end(request, response, _ms, route) {
        const status = statusOf(response);
        spans.get(request)?.end(
          {
            'http.request.method': request.method!,
            'http.route': route,
            ...(status !== 0 && { 'http.response.status_code': status }),
          },
          { failed: status === 0 || status >= 500 },
        );
      },
    },
  };
}
