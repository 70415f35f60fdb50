import type { dayJson } from '../../manage/history.ts';
import { type AnyRow, row } from '../rows/row.ts';

export const HISTORY_ROWS: readonly AnyRow[] = [
  row<ReturnType<typeof dayJson>[]>({
    words: 'history [feed]',
    operation: 'getHistory',
    summary: 'show what was added, expired, removed and undone in a list or a workspace per day, and the size of its block feed',
    options: { days: { help: 'how many days, today included; also such as 2w', fallback: 30 } },
    columns: {
      DAY: 'day',
      ADDED: 'added',
      EXPIRED: 'expired',
      REMOVED: 'removed',
      UNDONE: 'undone',
      HITS: 'hits',
      V4: (day) => day.v4?.last,
      'V4 MAX': (day) => day.v4?.max,
      V6: (day) => day.v6?.last,
      'V6 MAX': (day) => day.v6?.max,
    },
  }),
];
