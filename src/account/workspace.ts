import { type GuardRails, NO_GUARD_RAILS } from './guard-rails.ts';
import { type LargeSettings, largeSettingsJson, NO_LARGE_SETTINGS } from './large.ts';
import { type GroupRole, writeGroupRole } from './person.ts';

/** inactive: signals and feeds get 402 (spec 5). */
export const SUBSCRIPTIONS = ['active', 'inactive'] as const;
export type Subscription = (typeof SUBSCRIPTIONS)[number];

export interface Organization {
  readonly id: string;
  readonly name: string;
  readonly subscription: Subscription;
  readonly createdAt: number;
}

/** SPEC D7. */
export interface WorkspaceSettings extends GuardRails, LargeSettings {
  /** Whether never-block rules are subtracted from the workspace's block feed (SPEC D7.6). */
  readonly subtractAllow: 'on' | 'off';
  /** Roles of groups, in addition to the service's settings (SPEC D24.4). */
  readonly people: readonly GroupRole[];
}

export const NO_WORKSPACE_SETTINGS: WorkspaceSettings = { ...NO_GUARD_RAILS, ...NO_LARGE_SETTINGS, subtractAllow: 'off', people: [] };

export const workspaceSettingsJson = ({ protect, minPrefixV4, minPrefixV6, subtractAllow, people, ...large }: WorkspaceSettings) => ({
  protect,
  min_prefix_v4: minPrefixV4,
  min_prefix_v6: minPrefixV6,
  subtract_allow: subtractAllow,
  people: people.map(writeGroupRole),
  ...largeSettingsJson(large),
});

export type WorkspacePatch = Partial<WorkspaceSettings>;

/** The unit of tenancy: owns lists, rules and keys. */
export interface Workspace extends WorkspaceSettings {
  readonly id: string;
  readonly organizationId: string;
  readonly name: string;
  readonly createdAt: number;
}
