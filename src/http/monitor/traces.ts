/** Requests as steps of traces (SPEC D16.4, D16.5). */
import type { IncomingMessage } from 'node:http';
import type { Span, Tracer } from '../../ports/trace.ts';
import { readTraceparent } from '../../signal/message/traceparent.ts';
import { type RequestWatch, statusOf } from './request-watch.ts';

/** Tells the step of a trace that a request belongs to, for what follows from it. */
export type TraceOf = (request: IncomingMessage) => string | undefined;

/** The step that the client has named. */
export const namedTrace: TraceOf = ({ headers }) => readTraceparent(headers.traceparent);

/** Makes a step of each request with signals, and of those others whose client has named one: polls would be most of all traces. */
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
