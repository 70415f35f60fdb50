/** Several changes of a workspace in one transaction, for one expected state (SPEC D28.4). */
import type { Author } from '../../account/caller.ts';
import type { ComposedFeed } from '../../account/feed.ts';
import type { KeyInfo } from '../../account/key.ts';
import type { AccessList } from '../../account/list.ts';
import type { Workspace } from '../../account/workspace.ts';
import type { AccountWrites } from './account-store.ts';
import type { SourceWithSecret, SourceWrites } from './source-store.ts';
import type { WebhookWithSecret, WebhookWrites } from './webhook-store.ts';

export interface WorkspaceState {
  readonly tag: string;
  readonly workspace: Workspace;
  readonly lists: readonly AccessList[];
  readonly feeds: readonly ComposedFeed[];
  readonly keys: readonly KeyInfo[];
  readonly sources: readonly SourceWithSecret[];
  readonly webhooks: readonly WebhookWithSecret[];
}

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

export type ChangeCall = { readonly [K in keyof Together]: { readonly call: K; readonly args: Parameters<Together[K]> } }[keyof Together];

export interface TogetherReads {
  /** undefined: unknown workspace. */
  workspaceState(workspaceId: string): Promise<WorkspaceState | undefined>;
}

export interface TransactionWrites {
  /**
   * In order, followed by an audit row for `by`. Rejects with CHANGED if the state's tag differs, or like the change that fails; then none
   * is made.
   */
  changeInOneTransaction(
    workspaceId: string,
    tag: string,
    calls: readonly ChangeCall[],
    by: Author & { readonly act: string },
  ): Promise<void>;
}
