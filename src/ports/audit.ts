/** The audit log as a process follows it. Types only. */

/** One change that somebody made. */
export interface AuditEvent {
  readonly id: number;
  /** Such as `key revoked`. */
  readonly event: string;
  /** The id of what was changed. */
  readonly object: string;
  /** The key that did it, and the name of the person; null where a command did. */
  readonly keyId: string | null;
  readonly actor: string | null;
}

export interface AuditReads {
  /** The id of the newest row; 0 where there is none. */
  newestAudit(): Promise<number>;
  /** The rows behind this id, oldest first. */
  auditSince(id: number, limit: number): Promise<AuditEvent[]>;
}
