/** OpenTelemetry (SPEC D16.5); packages are loaded lazily. */
import { within } from '../clock.ts';
import type { Log } from '../ports/log.ts';
import type { TracedLanding, Tracer } from '../ports/trace.ts';

/** Of a failing collector, ms. */
const REPORT_EVERY = 60_000;
/** Timeout of the last spans, ms. */
const LAST = 2_000;

export interface Tracing extends Tracer {
  landed(landing: TracedLanding): void;
  /** Sends the rest. */
  close(): Promise<void>;
}

/** In batches. Supports `OTEL_SERVICE_NAME` etc. */
export async function startTracing(endpoint: string, version: string, log: Log): Promise<Tracing> {
  const { diag, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } = await import('@opentelemetry/api');
  const { BatchSpanProcessor, TracerProvider } = await import('@opentelemetry/sdk-trace');
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http');
  const { detectResources, envDetector, resourceFromAttributes, serviceNameEnvDetector } = await import('@opentelemetry/resources');

  let reportedAt = Number.NEGATIVE_INFINITY;
  const quiet = () => {};
  const report = (message: string) => {
    if (performance.now() - reportedAt < REPORT_EVERY) return;
    reportedAt = performance.now();
    log('warn', `traces cannot be sent: ${message}`);
  };
  diag.setLogger({ error: report, warn: quiet, info: quiet, debug: quiet, verbose: quiet });
  const named = resourceFromAttributes({ 'service.name': 'weir', 'service.version': version });
  const provider = new TracerProvider({
    resource: named.merge(detectResources({ detectors: [envDetector, serviceNameEnvDetector] })),
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter({ url: `${endpoint}/v1/traces` }) })],
  });
  const tracer = provider.getTracer('weir', version);

  const start: Tracer['start'] = (name, { kind, parent, at }) => {
    const options = { kind: kind === 'server' ? SpanKind.SERVER : SpanKind.CONSUMER, ...(at !== undefined && { startTime: at }) };
    const span = tracer.startSpan(
      name,
      options,
      parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parentOf(parent)),
    );
    const { traceId, spanId, traceFlags } = span.spanContext();
    return {
      traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
      end(attributes, { failed = false, at } = {}) {
        span.setAttributes({ ...attributes });
        if (failed) span.setStatus({ code: SpanStatusCode.ERROR });
        span.end(at);
      },
    };
  };
  return {
    start,
    landed({ traceparent, messages, partition, begunAt, endedAt }) {
      const span = start('land', { kind: 'consumer', parent: traceparent, at: begunAt });
      span.end({ 'messaging.batch.message_count': messages, 'messaging.destination.partition.id': String(partition) }, { at: endedAt });
    },
    async close() {
      await within(provider.shutdown(), LAST, 'the collector of traces').catch((error: Error) => report(error.message));
      diag.disable();
    },
  };
}

function parentOf(traceparent: string) {
  const [, traceId, spanId, flags] = traceparent.split('-') as [string, string, string, string];
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
}
