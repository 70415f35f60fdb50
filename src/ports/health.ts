/** One named part of readiness; `reason` says what is wrong when it is not `ok`. */
export interface Check {
  readonly ok: boolean;
  readonly reason?: string;
  readonly [detail: string]: unknown;
}
