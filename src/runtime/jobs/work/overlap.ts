import type { AccessList } from '../../../account/list.ts';
import { detailOf } from '../../../feed/whatif/overlap/detail.ts';
import { overlapOf } from '../../../feed/whatif/overlap/overlap.ts';
import { type ReadingData, reading } from './reading.ts';

export interface OverlapData extends ReadingData {
  readonly workspaceId: string;
  /** All lists, always including `selected`, or the detail of one list. */
  readonly work: { readonly selected: string | undefined } | { readonly detailOf: Pick<AccessList, 'id' | 'name'> };
}

export const serve = ({ workspaceId, work, ...data }: OverlapData) =>
  reading<unknown>(data, async ({ guarded, ...parts }) => {
    const { workspace, guard } = await guarded(workspaceId);
    if (!('detailOf' in work)) return overlapOf(workspaceId, work.selected, { ...parts, guarded: guard.protected });
    return detailOf(workspace, work.detailOf, { ...parts, guard });
  });
