import { NO_WORKSPACE_SETTINGS, workspaceSettingsJson } from '../../../account/workspace.ts';
import { refusePeopleElsewhere } from '../../keys/bounds.ts';
import { canonicalSettings, WORKSPACE_SETTABLE, workspacePatch } from '../../operations/workspace.ts';
import { call, fileKind } from '../kind.ts';

export const WORKSPACE_KIND = fileKind({
  section: 'workspace',
  isOne: true,
  word: 'workspace',
  about: 'Settings of the workspace: guard rails, subtraction from its own feed, and roles for groups.',
  fields: WORKSPACE_SETTABLE,
  things: ({ workspace }) => [{ id: workspace.id, name: '', entry: workspaceSettingsJson(workspace), row: workspace }],
  wanted(given, before, { prune, keyNetworks }) {
    const now = prune || before === undefined ? NO_WORKSPACE_SETTINGS : before.row;
    const entry = workspaceSettingsJson({ ...now, ...canonicalSettings(workspacePatch(given)) });
    refusePeopleElsewhere({ keyNetworks }, new Set(entry.people).difference(new Set(workspaceSettingsJson(before?.row ?? now).people)));
    return entry;
  },
  core: () => ({}),
  add: () => [],
  change: (_thing, { entry }, { workspaceId, by }) => [call('updateWorkspace', workspaceId, workspacePatch(entry), { by })],
  remove: () => [],
});
