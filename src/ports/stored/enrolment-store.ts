import type { Enrolment, NewEnrolment } from '../../account/enrolment.ts';
import type { KeyInfo, NewKey } from '../../account/key.ts';
import type { ChangeOptions } from './account-store.ts';

export interface EnrolmentReads {
  /** Newest first; up to MOST_CODES. `now` in ms. */
  enrolments(workspaceId: string, now: number): Promise<Enrolment[]>;
  /** undefined: unknown, used or expired. */
  findEnrolment(hash: Uint8Array, now: number): Promise<Enrolment | undefined>;
  /** Valid, for feeds only, newest first; up to `most`. `now` in ms. */
  unusedFeedKeys(workspaceId: string, now: number, most: number): Promise<KeyInfo[]>;
}

export interface EnrolmentWrites {
  /** For CODE_LIFETIME. REFUSED: `change.most` codes are open; NOT_FOUND: no such list or feed. */
  createEnrolment(workspaceId: string, enrolment: NewEnrolment, change?: ChangeOptions): Promise<Enrolment>;
  /** Rejects with NOT_FOUND. */
  revokeEnrolment(workspaceId: string, id: string, change?: ChangeOptions): Promise<void>;
  /**
   * Creates the key in the same transaction; undefined: unknown, used or expired, or its list or feed was deleted. REFUSED: the workspace
   * has `mostKeys` keys. `address`: for the audit log.
   */
  useEnrolment(
    hash: Uint8Array,
    key: Pick<NewKey, 'hash' | 'prefix'>,
    of: { readonly address: string; readonly mostKeys: number },
  ): Promise<Enrolment | undefined>;
}
