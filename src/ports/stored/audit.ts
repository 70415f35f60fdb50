import type { AuditRow } from './account-store.ts';

/** keyId and actor null: changed by a command. */
export interface AuditLogRow extends AuditRow {
  /** null: of the service. */
  readonly workspaceId: string | null;
}

export interface AuditReads {
  /** 0: no rows. */
  newestAudit(): Promise<number>;
  /** Oldest first. */
  auditSince(id: number, limit: number): Promise<AuditLogRow[]>;
}
