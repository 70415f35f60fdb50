/** A thread that tells what the lists of one workspace are worth, or what one of them costs. */
import { workerData } from 'node:worker_threads';
import { blockGuards } from '../../account/guard-rails.ts';
import { systemClock } from '../../clock.ts';
import { detailOf } from '../../document/worth/detail.ts';
import { worthOf } from '../../document/worth/worth.ts';
import { WeirError } from '../../errors.ts';
import { geoDatabase } from '../../geo/database.ts';
import type { Config } from '../../settings/settings.ts';
import { openReads } from '../engines.ts';
import { answering } from './thread-answer.ts';
import type { WorthData } from './worth.ts';

const { workspaceId, work, settings, guardRails, geo } = workerData as WorthData;
await answering(async () => {
  const store = await openReads(settings as Config);
  const options = { store, geo: geoDatabase(geo), clock: systemClock };
  try {
    if (!('detailOf' in work)) return await worthOf(workspaceId, work.shown, options);
    const workspace = await store.workspace(workspaceId);
    if (workspace === undefined) throw new WeirError('NOT_FOUND', 'the workspace is gone');
    return await detailOf(workspace, work.detailOf, { ...options, guard: blockGuards(guardRails)(workspace) });
  } finally {
    await store.close();
  }
});
