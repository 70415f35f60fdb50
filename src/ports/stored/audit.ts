import type { Author } from '../../account/caller.ts';

/** keyId and actor null: changed by a command. */
export interface AuditEvent extends Author {
  readonly id: number;
  readonly event: string;
  readonly object: string;
}

export interface AuditReads {
  /** 0: no rows. */
  newestAudit(): Promise<number>;
  auditSince(id: number, limit: number): Promise<AuditEvent[]>;
}
