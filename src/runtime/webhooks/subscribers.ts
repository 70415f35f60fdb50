/** Which workspaces have a webhook, read again when that may have changed. */
import { everyItem } from '../../ports/stored/paginate.ts';
import type { WebhookReads } from '../../ports/stored/webhook-store.ts';

/** Tells their ids, oldest first. Where nothing was changed it asks for one number. */
export function subscribedWorkspaces(
  store: Pick<WebhookReads, 'webhookRevision' | 'subscribedWorkspaces'>,
): () => Promise<ReadonlySet<string>> {
  let revision = -1;
  let known = new Set<string>();
  return async () => {
    const now = await store.webhookRevision();
    if (now === revision) return known;
    [known, revision] = [new Set(await Array.fromAsync(everyItem((page) => store.subscribedWorkspaces(page)))), now];
    return known;
  };
}
