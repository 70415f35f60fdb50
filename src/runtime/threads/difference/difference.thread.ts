/** A thread that tells what a feed had more and less at one moment than at another. */
import { workerData } from 'node:worker_threads';
import { blockGuards } from '../../../account/guard-rails.ts';
import { systemClock } from '../../../clock.ts';
import { feedDifference } from '../../../document/difference/difference.ts';
import { WeirError } from '../../../errors.ts';
import { geoDatabase } from '../../../geo/database.ts';
import type { Config } from '../../../settings/settings.ts';
import { openReads } from '../../engines.ts';
import { answering } from '../thread-answer.ts';
import type { DifferenceData } from './difference.ts';

const { workspaceId, asked, settings, guardRails, geo } = workerData as DifferenceData;
await answering(async () => {
  const store = await openReads(settings as Config);
  try {
    const workspace = await store.workspace(workspaceId);
    if (workspace === undefined) throw new WeirError('NOT_FOUND', 'the workspace is gone');
    const guard = blockGuards(guardRails)(workspace);
    return await feedDifference(workspaceId, asked, { store, geo: geoDatabase(geo), guard, clock: systemClock });
  } finally {
    await store.close();
  }
});
