/** The files of workspaces over HTTP, wherever they are worked on (SPEC D28.9). Types only. */
import type { Author } from '../../account/caller.ts';
import type { FieldFault } from '../../signal/validate.ts';

/** Whose file it is, and who asks. */
export interface AboutFile {
  readonly workspaceId: string;
  readonly by: Author;
  /** What a workspace may have of each; 0 = no limit. */
  readonly most: Readonly<Record<'maxLists' | 'maxFeeds' | 'maxKeys' | 'maxSources', number>>;
  /** The key that asks. */
  readonly callerKeyId: string;
  /** Until when it is good, ms since 1970; null: for good. */
  readonly keyExpiresAt: number | null;
  /** The networks that it is good from; none: from anywhere. */
  readonly keyNetworks: readonly string[];
}

/** A file as it came, and what is to be done with it. */
export interface GivenFile {
  readonly bytes: Uint8Array;
  readonly request: Readonly<Partial<Record<'dryRun' | 'prune' | 'confirmed', boolean | undefined>>>;
}

export interface WorkspaceFiles {
  /** What is set in a workspace, as JSON. */
  exported(about: AboutFile): Promise<string>;
  /** Makes it as a file says. Returns what came of it as JSON (`Applied`), or what is wrong with the file. Rejects as `applyFile` does, but for faults. */
  applied(about: AboutFile, given: GivenFile): Promise<{ readonly json: string } | { readonly faults: readonly FieldFault[] }>;
}
