/** Which workspaces have a webhook, read again when that may have changed. */
import type { WebhookReads } from '../../ports/stored/webhook-store.ts';

/** Workspaces that are read at once. */
const PAGE = 1000;

/** Tells their ids, oldest first. Where nothing was changed it asks for one number. */
export function hookedWorkspaces(store: Pick<WebhookReads, 'webhookRevision' | 'hookedWorkspaces'>): () => Promise<ReadonlySet<string>> {
  let revision = -1;
  let known = new Set<string>();
  return async () => {
    const now = await store.webhookRevision();
    if (now === revision) return known;
    const found = new Set<string>();
    let after: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof store.hookedWorkspaces>> = await store.hookedWorkspaces({ after, limit: PAGE });
      for (const id of page.items) found.add(id);
      after = page.next;
    } while (after !== null);
    [known, revision] = [found, now];
    return known;
  };
}
