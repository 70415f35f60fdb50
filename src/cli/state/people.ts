/** `weir person`. */

import { personJson } from '../../manage/operations/people.ts';
import { AUDIT_KEPT } from '../../ports/stored/account-store.ts';
import { inWords } from '../../text/duration.ts';
import type { AddCommand } from '../command.ts';
import { fieldTable, readsIn } from '../context.ts';
import { inWorkspace } from '../usage.ts';

export function peopleCommands(add: AddCommand): void {
  add(
    'person ls',
    `list who was seen in a workspace without a key in the last ${inWords(AUDIT_KEPT)}: people whom a provider has named`,
    inWorkspace,
    {
      async run(context, _args, options) {
        const { store, workspace } = await readsIn(context, options.workspace);
        return (await store.people(workspace)).map(personJson);
      },
      show: (rows) => fieldTable(rows, { 'LAST SEEN': 'last_seen', NAME: 'name', ROLE: 'role', PERSON: 'id' }),
    },
  );
}
