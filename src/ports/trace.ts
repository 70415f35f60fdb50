/** OpenTelemetry spans (SPEC D16.5). */

export interface Span {
  readonly traceparent: string;
  /** `at`: ms; default: now. */
  end(attributes: Readonly<Record<string, string | number>>, end?: { readonly failed?: boolean; readonly at?: number }): void;
}

export interface Tracer {
  /** `parent`: a traceparent; `at` as in `end`. */
  start(name: string, about: { readonly kind: 'server' | 'consumer'; readonly parent: string | undefined; readonly at?: number }): Span;
}

/** Applied together. Times in ms. */
export interface TracedLanding {
  readonly traceparent: string;
  readonly messages: number;
  readonly partition: number;
  readonly begunAt: number;
  readonly endedAt: number;
}
