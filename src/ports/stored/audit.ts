/** The audit log, as a process follows it. */

import type { Author } from '../../account/caller.ts';

/** keyId and actor null: changed by a command. */
export interface AuditEvent extends Author {
  readonly id: number;
  /** For example `key revoked`. */
  readonly event: string;
  readonly object: string;
}

export interface AuditReads {
  /** 0: no rows. */
  newestAudit(): Promise<number>;
  /** Rows after this id, oldest first. */
  auditSince(id: number, limit: number): Promise<AuditEvent[]>;
}
