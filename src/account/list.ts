import type { AccessAction, Level } from '../rule.ts';

/** Feed settings that a list stores; null = the service's default (spec 2.6, 4.4.3). */
export interface ListSettings {
  readonly format: string | null;
  readonly family: string | null;
  readonly action: AccessAction | null;
  readonly maxEntries: number | null;
  readonly confidence: Level | null;
  readonly severity: Level | null;
}

/** A named list of access rules, the source of one feed (spec 2.6). `revision` moves with its rules, settings, name and description. */
export interface AccessList extends ListSettings {
  readonly id: string;
  readonly workspaceId: string;
  readonly name: string;
  readonly description: string | null;
  readonly isDefault: boolean;
  readonly revision: number;
}

/** A list as a store holds it, for `weir export` and `weir import`. */
export type SavedList = Omit<AccessList, 'workspaceId' | 'revision'>;
