export interface Outcome {
  /** Default 200. */
  readonly status?: number;
  readonly body: object;
  /** If available. */
  readonly json?: string;
  /** For If-Match (`stateTag`). */
  readonly tag?: string;
  /** Below /v1/manage. */
  readonly location?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>> | undefined;
  /** The body of the request is needed until then. */
  readonly until?: Promise<unknown>;
}
