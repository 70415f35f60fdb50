/** `weir workspace`. */
import type { Workspace } from '../account/workspace.ts';
import type { AddCommand } from './command.ts';
import { isoTime, table } from './context.ts';
import { noOptions, pick, readName } from './usage.ts';

const workspaceJson = ({ id, organizationId, name, createdAt }: Workspace) => ({
  id,
  organization_id: organizationId,
  name,
  created_at: isoTime(createdAt),
});

export function workspaceCommands(add: AddCommand): void {
  add(
    'workspace create <name>',
    'make a workspace with its default list',
    (c) => c.requiredOption('--org <org>', 'id or name of its organization'),
    {
      async run(context, [name], options) {
        const store = await context.store();
        const organization = pick(await store.organizations(), options.org, 'organization');
        return workspaceJson(await store.createWorkspace(organization.id, readName(name)));
      },
      show: (workspace) => `workspace ${workspace.name} ${workspace.id}`,
    },
  );
  add('workspace ls', 'list workspaces', noOptions, {
    run: async (context) => (await (await context.reads()).workspaces()).map(workspaceJson),
    show: (rows) =>
      table(
        ['ID', 'NAME', 'ORGANIZATION'],
        rows.map((w) => [w.id, w.name, w.organization_id]),
      ),
  });
}
