/** One named part of readiness; `reason` says what is wrong when it is not `ok`. */
export interface Check {
  readonly ok: boolean;
  readonly reason?: string;
  readonly [detail: string]: unknown;
}

/** The checks of this process, by the name of what they look at. */
export type Readiness = () => Promise<Readonly<Record<string, Check>>>;
