/** Which workspaces have a webhook, read again when that may have changed. */
import { everyItem } from '../../ports/stored/every-item.ts';
import type { WebhookReads } from '../../ports/stored/webhook-store.ts';

/** Tells their ids, oldest first. Where nothing was changed it asks for one number. */
export function hookedWorkspaces(store: Pick<WebhookReads, 'webhookRevision' | 'hookedWorkspaces'>): () => Promise<ReadonlySet<string>> {
  let revision = -1;
  let known = new Set<string>();
  return async () => {
    const now = await store.webhookRevision();
    if (now === revision) return known;
    [known, revision] = [new Set(await Array.fromAsync(everyItem((page) => store.hookedWorkspaces(page)))), now];
    return known;
  };
}
