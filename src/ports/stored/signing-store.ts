/** The keys that sign a workspace's feeds (SPEC D63). */
import type { SigningKey } from '../../account/secrets/signature.ts';
import type { ChangeOptions } from './account-store.ts';

/** The secret is encrypted for the workspace. */
export interface NewSigningKey extends Omit<SigningKey, 'createdAt'> {
  readonly secret: Uint8Array;
}

export interface SigningReads {
  /** Oldest first: it signs. */
  signingKeys(workspaceId: string): Promise<SigningKey[]>;
}

export interface SigningWrites {
  /** Throws REFUSED at the limit. */
  createSigningKey(workspaceId: string, key: NewSigningKey, change?: ChangeOptions): Promise<SigningKey>;
  deleteSigningKey(workspaceId: string, id: string, change?: ChangeOptions): Promise<void>;
}
