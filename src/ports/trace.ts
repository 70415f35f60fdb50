/** Steps of traces, as OpenTelemetry has them (SPEC D16.5). Types only. */

/** A step that has begun. */
export interface Span {
  /** Names it for the steps that follow from it. */
  readonly traceparent: string;
  /** `at`: ms since 1970; now, when absent. */
  end(attributes: Readonly<Record<string, string | number>>, end?: { readonly failed?: boolean; readonly at?: number }): void;
}

/** What begins steps. */
export interface Tracer {
  /** `parent` is the traceparent of the step that it follows from; `at` as of `end`. */
  start(name: string, about: { readonly kind: 'server' | 'consumer'; readonly parent: string | undefined; readonly at?: number }): Span;
}

/** Messages of one step that have landed together. Times in ms since 1970. */
export interface TracedLanding {
  readonly traceparent: string;
  readonly messages: number;
  readonly partition: number;
  readonly begunAt: number;
  readonly endedAt: number;
}
