/** The audit log as a process follows it. Types only. */

import type { Author } from '../../account/caller.ts';

/** One change that somebody made; where keyId and actor are null a command did. */
export interface AuditEvent extends Author {
  readonly id: number;
  /** Such as `key revoked`. */
  readonly event: string;
  /** The id of what was changed. */
  readonly object: string;
}

export interface AuditReads {
  /** The id of the newest row; 0 where there is none. */
  newestAudit(): Promise<number>;
  /** The rows behind this id, oldest first. */
  auditSince(id: number, limit: number): Promise<AuditEvent[]>;
}
