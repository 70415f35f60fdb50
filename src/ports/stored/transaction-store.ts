/** Several changes of a workspace as one: all of them or none, and only of the state that they were made for (SPEC D28.4). Types only. */
import type { Author } from '../../account/caller.ts';
import type { ComposedFeed } from '../../account/feed.ts';
import type { KeyInfo } from '../../account/key.ts';
import type { AccessList } from '../../account/list.ts';
import type { Workspace } from '../../account/workspace.ts';
import type { AccountWrites } from './account-store.ts';
import type { SourceWithSecret, SourceWrites } from './source-store.ts';
import type { WebhookWithSecret, WebhookWrites } from './webhook-store.ts';

/** All that is set in a workspace. */
export interface WorkspaceState {
  /** Names this state: equal states have equal tags. */
  readonly tag: string;
  readonly workspace: Workspace;
  readonly lists: readonly AccessList[];
  readonly feeds: readonly ComposedFeed[];
  /** Also those that are revoked or have expired. */
  readonly keys: readonly KeyInfo[];
  readonly sources: readonly SourceWithSecret[];
  readonly webhooks: readonly WebhookWithSecret[];
}

/** The writes that can be made together. */
type Together = Pick<
  AccountWrites & SourceWrites & WebhookWrites,
  | 'updateWorkspace'
  | 'createList'
  | 'updateList'
  | 'deleteList'
  | 'createFeed'
  | 'updateFeed'
  | 'deleteFeed'
  | 'createKey'
  | 'updateKey'
  | 'revokeKey'
  | 'createSource'
  | 'updateSource'
  | 'pauseSource'
  | 'deleteSource'
  | 'createWebhook'
  | 'updateWebhook'
  | 'deleteWebhook'
>;

/** One of them, with what it is given. */
export type ChangeCall = { readonly [K in keyof Together]: { readonly call: K; readonly args: Parameters<Together[K]> } }[keyof Together];

export interface TogetherReads {
  /** What is set in a workspace; undefined for an unknown one. */
  workspaceState(workspaceId: string): Promise<WorkspaceState | undefined>;
}

export interface TransactionWrites {
  /**
   * Makes the changes in their order, in one transaction, with a row of the audit log that closes them; `by` has the act that they are.
   * Rejects with CHANGED when the state is not the one with this tag, and as the change rejects that cannot be made: then none is.
   */
  changeInOneTransaction(
    workspaceId: string,
    tag: string,
    calls: readonly ChangeCall[],
    by: Author & { readonly act: string },
  ): Promise<void>;
}
