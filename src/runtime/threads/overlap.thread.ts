import { workerData } from 'node:worker_threads';
import { detailOf } from '../../feed/whatif/overlap/detail.ts';
import { overlapOf } from '../../feed/whatif/overlap/overlap.ts';
import type { OverlapData } from './overlap.ts';
import { reading } from './reading.ts';

const { workspaceId, work, ...data } = workerData as OverlapData;
reading<unknown>(data, async ({ guarded, ...parts }) => {
  if (!('detailOf' in work)) return overlapOf(workspaceId, work.shown, parts);
  const { workspace, guard } = await guarded(workspaceId);
  return detailOf(workspace, work.detailOf, { ...parts, guard });
});
