/** SPEC D28.9. Types only. */
import type { Author } from '../../account/caller.ts';
import type { FieldFault } from '../../signal/validate.ts';

export interface AboutFile {
  readonly workspaceId: string;
  readonly by: Author;
  readonly most: Readonly<Record<'maxLists' | 'maxFeeds' | 'maxKeys' | 'maxSources', number>>;
  readonly callerKeyId: string;
  /** ms since 1970; null: never. */
  readonly keyExpiresAt: number | null;
  readonly keyNetworks: readonly string[];
}

export interface GivenFile {
  readonly bytes: Uint8Array;
  readonly request: Readonly<Partial<Record<'dryRun' | 'prune' | 'confirmed', boolean | undefined>>>;
}

export interface WorkspaceFiles {
  exported(about: AboutFile): Promise<string>;
  /** Rejects like `applyFile`, except for faults. */
  applied(about: AboutFile, given: GivenFile): Promise<{ readonly json: string } | { readonly faults: readonly FieldFault[] }>;
}
