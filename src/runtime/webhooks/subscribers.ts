import { everyItem } from '../../ports/stored/paginate.ts';
import type { WebhookReads } from '../../ports/stored/webhook-store.ts';

/** Ids, oldest first; unchanged, it costs one number. */
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
