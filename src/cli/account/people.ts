import type { personJson } from '../../manage/operations/access/people.ts';
import { AUDIT_RETENTION } from '../../ports/stored/account-store.ts';
import { inWords } from '../../text/duration.ts';
import { type AnyRow, row } from '../rows/row.ts';

export const PEOPLE_ROWS: readonly AnyRow[] = [
  row<ReturnType<typeof personJson>[]>({
    words: 'person ls',
    operation: 'listPeople',
    summary: `list the people who have signed in through a provider and were seen in a workspace in the last ${inWords(AUDIT_RETENTION)}`,
    columns: { 'LAST SEEN': 'last_seen', NAME: 'name', ROLE: 'role', PERSON: 'id' },
  }),
];
