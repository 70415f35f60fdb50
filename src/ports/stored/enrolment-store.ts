import type { Enrolment, NewEnrolment } from '../../account/enrolment.ts';
import type { KeyInfo, NewKey } from '../../account/key.ts';
import type { ChangeOptions } from './account-store.ts';

export interface EnrolmentReads {
  /** Open codes, newest first; up to MOST_CODES. `now` in ms. */
  enrolments(workspaceId: string, now: number): Promise<Enrolment[]>;
  /** By the SHA-256 of its code; undefined: unknown, used or expired. */
  findEnrolment(hash: Uint8Array, now: number): Promise<Enrolment | undefined>;
  /** Valid keys that can only read feeds and that nobody has used, newest first; up to `most`. `now` in ms. */
  unusedFeedKeys(workspaceId: string, now: number, most: number): Promise<KeyInfo[]>;
}

export interface EnrolmentWrites {
  /** Valid for CODE_LIFETIME. Rejects with REFUSED if `change.most` codes are open, with NOT_FOUND without the list or feed. */
  createEnrolment(workspaceId: string, enrolment: NewEnrolment, change?: ChangeOptions): Promise<Enrolment>;
  /** Rejects with NOT_FOUND. */
  revokeEnrolment(workspaceId: string, id: string, change?: ChangeOptions): Promise<void>;
  /**
   * Uses up the code and creates its key, in one transaction; undefined: unknown, used or expired, or its list or feed was deleted. Rejects
   * with REFUSED if the workspace has `mostKeys` keys. `address`: for the audit log.
   */
  useEnrolment(
    hash: Uint8Array,
    key: Pick<NewKey, 'hash' | 'prefix'>,
    of: { readonly address: string; readonly mostKeys: number },
  ): Promise<Enrolment | undefined>;
}
