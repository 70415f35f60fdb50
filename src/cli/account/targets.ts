import type { ALL_TARGETS } from '../../manage/operations/targets.ts';
import { type AnyRow, row } from '../rows/row.ts';

export const TARGET_ROWS: readonly AnyRow[] = [
  row<typeof ALL_TARGETS>({
    words: 'target ls',
    operation: 'listTargets',
    summary: 'list the kinds of devices that feeds are made for, and the limits of each',
    columns: {
      NAME: 'name',
      DEVICE: 'title',
      ENTRIES: (each) => each.max_entries ?? 'unknown',
      OF: 'counts',
      FORMAT: 'format',
      FAMILY: 'family',
      STYLE: 'host_style',
      MORE: 'beyond',
      FROM: (each) => `${each.source} (${each.read_at})`,
    },
  }),
];
