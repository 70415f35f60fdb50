/** The answer to a request. */
export interface Outcome {
  /** 200 when absent; that of a fault where a late answer is one. */
  readonly status?: number;
  readonly body: object;
  /** The body as JSON, where that is there already. */
  readonly json?: string;
  /** The entity tag of what can be edited of the resource (`stateTag`). */
  readonly tag?: string;
  /** The path of what was made, below /v1/manage. */
  readonly location?: string;
  /** Further headers of it. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>> | undefined;
  /** Until when the body of the request is needed, where that is longer than until its answer. */
  readonly until?: Promise<unknown>;
}
