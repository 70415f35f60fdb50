import type { GuardRails } from './guard-rails.ts';
import type { Permission } from './permission.ts';
import type { SampleInfo } from './sample.ts';
import type { Subscription } from './workspace.ts';

/** An authenticated caller: usually an API key with its workspace and organization (spec 5). */
export interface Caller {
  readonly keyId: string;
  readonly workspaceId: string;
  readonly organizationId: string;
  readonly subscription: Subscription;
  readonly permissions: readonly Permission[];
  readonly listId: string | null;
  readonly listSourceId?: string | null;
  readonly feedId: string | null;
  /** Of the workspace; the service's apply in addition. */
  readonly guardRails: GuardRails;
  readonly sample: SampleInfo | null;
  /** Canonical networks that the key is valid from; empty: everywhere. */
  readonly networks: readonly string[];
  /** ms since 1970; null: never. */
  readonly expiresAt: number | null;
  /** Set for a person from a provider instead of a key (`personId`); `keyId` has the same value. */
  readonly personId?: string;
  /** The person's name, from the request or the provider. */
  readonly actor?: string;
  /** Set for a source that refreshes its list instead of a key; `keyId` is its id. */
  readonly sourceId?: string;
  /** Through the management API: its changes are no signals. */
  readonly isManaged?: true;
}

/** The author of a change, for the audit log: a key and the person named by the request. Both null: a command. */
export interface Author {
  readonly keyId: string | null;
  readonly actor: string | null;
  readonly personId?: string | null | undefined;
  readonly act?: string | undefined;
}

export const authorOf = ({ keyId, personId }: Pick<Caller, 'keyId' | 'personId'>, actor: string | null): Author =>
  personId === undefined ? { keyId, actor } : { keyId: null, actor, personId };

export interface Sender {
  readonly keyId?: string | undefined;
  readonly actor?: string | undefined;
  readonly personId?: string | undefined;
  readonly isManaged?: true | undefined;
}

export const senderOf = ({ keyId, actor, personId, isManaged }: Sender): Sender => ({
  ...(personId === undefined && keyId !== undefined && { keyId }),
  ...(actor !== undefined && { actor }),
  ...(personId !== undefined && { personId }),
  ...(isManaged && { isManaged }),
});
