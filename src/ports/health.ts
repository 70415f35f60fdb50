/** One readiness check; `reason` explains a failure. */
export interface Check {
  readonly ok: boolean;
  readonly reason?: string;
  readonly [detail: string]: unknown;
}

/** The checks of this process, by name. */
export type Readiness = () => Promise<Readonly<Record<string, Check>>>;
