/** A thread that tells what the lists of one workspace are worth. */
import { workerData } from 'node:worker_threads';
import { blockGuards } from '../../account/guard-rails.ts';
import { systemClock } from '../../clock.ts';
import { worthOf } from '../../document/worth/worth.ts';
import { WeirError } from '../../errors.ts';
import { geoDatabase } from '../../geo/database.ts';
import type { Config } from '../../settings/settings.ts';
import { openReads } from '../engines.ts';
import { answering } from './thread-answer.ts';
import type { WorthData } from './worth.ts';

const { workspaceId, listId, settings, guardRails, geo } = workerData as WorthData;
await answering(async () => {
  const store = await openReads(settings as Config);
  try {
    const workspace = await store.workspace(workspaceId);
    if (workspace === undefined) throw new WeirError('NOT_FOUND', 'the workspace is gone');
    const guard = blockGuards(guardRails)(workspace);
    return await worthOf(workspace, listId, { store, geo: geoDatabase(geo), guard, clock: systemClock });
  } finally {
    await store.close();
  }
});
