import { WeirError } from '../../errors.ts';
import type { Store, StoreReads } from '../../ports/store.ts';
import { type Context, workspaceIn } from '../context.ts';
import { readKey } from '../signals/service.ts';
import { type Client, clientOf } from './client.ts';

interface Wanted {
  /** Name or id. */
  readonly workspace: string | undefined;
  readonly writes: boolean;
  /** Finds the workspace if the command names none. */
  readonly anywhere: ((store: StoreReads) => Promise<string | undefined>) | undefined;
}

export async function openClient(context: Context, { workspace, writes, anywhere }: Wanted): Promise<Client> {
  const { url, environment, author } = context;
  if (url !== undefined) {
    const { remoteSend } = await import('./remote.ts');
    const client = clientOf(remoteSend({ url, key: readKey(environment.WEIR_API_KEY), author }));
    const named = workspace ?? (environment.WEIR_WORKSPACE || undefined);
    if (named !== undefined) await requireWorkspace(client, named);
    return client;
  }
  const store: StoreReads = writes ? ((await context.store()) as Store) : await context.reads();
  const found = await workspaceIn(context, store, workspace ?? (await anywhere?.(store)));
  const { localSend } = await import('./local.ts');
  return clientOf(localSend(context, store, found));
}

/** The key determines the workspace. */
async function requireWorkspace(client: Client, named: string): Promise<void> {
  const { workspace } = await client.call<{ workspace: { id: string; name: string } }>('whoAmI');
  if (workspace.id !== named && workspace.name !== named)
    throw new WeirError('USAGE', `the key in WEIR_API_KEY is for the workspace "${workspace.name}", not for "${named}"`);
}
