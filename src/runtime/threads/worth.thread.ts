/** A thread that tells what the lists of one workspace are worth, or what one of them costs. */
import { workerData } from 'node:worker_threads';
import { detailOf } from '../../document/worth/detail.ts';
import { worthOf } from '../../document/worth/worth.ts';
import { reading } from './reading.ts';
import type { WorthData } from './worth.ts';

const { workspaceId, work, ...data } = workerData as WorthData;
reading<unknown>(data, async ({ guarded, ...parts }) => {
  if (!('detailOf' in work)) return worthOf(workspaceId, work.shown, parts);
  const { workspace, guard } = await guarded(workspaceId);
  return detailOf(workspace, work.detailOf, { ...parts, guard });
});
