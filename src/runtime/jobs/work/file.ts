import { systemClock } from '../../../clock.ts';
import { sourceReach } from '../../../fetch/reach.ts';
import { workspaceFiles } from '../../../manage/file/files.ts';
import type { Config } from '../../../settings/settings.ts';
import type { FeedSource } from '../../engines.ts';
import { openThreadStore } from '../../threads/thread-store.ts';

export interface FileData {
  readonly source: FeedSource;
  readonly settings: Pick<Config, 'secretsKey' | 'sourceNetworks' | 'webhookNetworks' | 'nat64Prefixes'>;
}

export async function serve({ source, settings }: FileData) {
  const store = await openThreadStore(source, { reads: 2, changes: 2 });
  const { secretsKey, sourceNetworks, webhookNetworks, nat64Prefixes } = settings;
  const files = workspaceFiles({
    ...{ store, now: systemClock.now, secretKeys: secretsKey },
    sourceReach: sourceReach(sourceNetworks, nat64Prefixes),
    webhookReach: sourceReach(webhookNetworks, nat64Prefixes),
  });
  return { ...files, close: store.close };
}
