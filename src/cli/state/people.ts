/** `weir person`. */
import { personJson } from '../../manage/operations/people.ts';
import type { AddCommand } from '../command.ts';
import { printable, table, workspaceId } from '../context.ts';
import { inWorkspace } from '../usage.ts';

export function peopleCommands(add: AddCommand): void {
  add('person ls', 'list who was seen in a workspace without a key in the last 90 days: people whom a provider has named', inWorkspace, {
    async run(context, _args, options) {
      const store = await context.reads();
      return (await store.people(await workspaceId(store, options.workspace))).map(personJson);
    },
    show: (rows) =>
      table(
        ['LAST SEEN', 'NAME', 'ROLE', 'PERSON'],
        rows.map(({ last_seen, name, role, id }) => [last_seen, printable(name), role, printable(id)]),
      ),
  });
}
