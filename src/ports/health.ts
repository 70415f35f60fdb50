export interface Check {
  readonly ok: boolean;
  readonly reason?: string;
  readonly [detail: string]: unknown;
}

export type Readiness = () => Promise<Readonly<Record<string, Check>>>;
