import type { GuardRails } from './guard-rails.ts';
import type { Subscription } from './organization.ts';
import type { Permission } from './permission.ts';
import type { SampleInfo } from './sample.ts';

/** Who is asking: an API key with its workspace, organization and rights (spec 5). */
export interface Caller {
  readonly keyId: string;
  readonly workspaceId: string;
  readonly organizationId: string;
  readonly subscription: Subscription;
  readonly permissions: readonly Permission[];
  /** The list the key is bound to, or null. */
  readonly listId: string | null;
  /** The source that keeps that list, or null. */
  readonly listSourceId?: string | null;
  /** The composed feed the key is bound to, or null. */
  readonly feedId: string | null;
  /** What the workspace sets; the service's come on top. */
  readonly guardRails: GuardRails;
  /** What the workspace tries rules on, or null. */
  readonly sample: SampleInfo | null;
  /** The networks that the key is good from, in their canonical form; none: from anywhere. */
  readonly networks: readonly string[];
  /** ms since 1970, or null. */
  readonly expiresAt: number | null;
  /** Set where no key asks, but a person whom a provider has named (`personId`), which `keyId` is then, too. */
  readonly personId?: string;
  /** The person that a request to management names, or a provider has. */
  readonly actor?: string;
  /** Set where no key asks, but a source that refreshes its list; `keyId` is then its id. */
  readonly sourceId?: string;
}

/** Who changes something, for the audit log: a key, and the person behind it where the request names one. Both null: a command. */
export interface Author {
  readonly keyId: string | null;
  readonly actor: string | null;
  /** The person, where a provider has named him (`personId`). */
  readonly personId?: string | null | undefined;
  /** What the change is a part of, where several are made together. */
  readonly act?: string | undefined;
}

/** Who a caller is to the audit log; `actor` is the person that his request names. */
export const authorOf = ({ keyId, personId }: Pick<Caller, 'keyId' | 'personId'>, actor: string | null): Author =>
  personId === undefined ? { keyId, actor } : { keyId: null, actor, personId };

/** Who sends something, as messages name him: a key, and the person as far as he is known. */
export interface Sender {
  readonly keyId?: string | undefined;
  readonly actor?: string | undefined;
  readonly personId?: string | undefined;
}

export const senderOf = ({ keyId, actor, personId }: Sender): Sender => ({
  ...(personId === undefined && keyId !== undefined && { keyId }),
  ...(actor !== undefined && { actor }),
  ...(personId !== undefined && { personId }),
});
