import { type GuardRails, NO_GUARD_RAILS } from './guard-rails.ts';
import { type GroupRole, writeGroupRole } from './person.ts';

/** What can be set of a workspace (SPEC D7). */
export interface WorkspaceSettings extends GuardRails {
  /** Whether never-block rules are cut out of the workspace's block feed (SPEC D7.6). */
  readonly subtractAllow: 'on' | 'off';
  /** What the members of groups may do in it, besides what the service's settings say (SPEC D24.4). */
  readonly people: readonly GroupRole[];
}

/** The settings of a workspace for which nothing was set. */
export const NO_WORKSPACE_SETTINGS: WorkspaceSettings = { ...NO_GUARD_RAILS, subtractAllow: 'off', people: [] };

/** The settings as JSON has them. */
export const workspaceSettingsJson = ({ protect, minPrefixV4, minPrefixV6, subtractAllow, people }: WorkspaceSettings) => ({
  protect,
  min_prefix_v4: minPrefixV4,
  min_prefix_v6: minPrefixV6,
  subtract_allow: subtractAllow,
  people: people.map(writeGroupRole),
});

/** A change of what is set of a workspace; what it does not name stays as it is. */
export type WorkspacePatch = Partial<WorkspaceSettings>;

/** The unit of tenancy: lists, rules and keys belong to one workspace. */
export interface Workspace extends WorkspaceSettings {
  readonly id: string;
  readonly organizationId: string;
  readonly name: string;
  readonly createdAt: number;
}
