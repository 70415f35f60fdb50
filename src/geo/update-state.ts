/** What the last update of the geo data did, kept beside the downloaded files for the next one and for `weir geo status` (SPEC D17.8). */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Validators } from '../fetch/fetch.ts';
import type { GeoKind } from './kind.ts';

/** `held`: the download has under half of what is in use, and waits for `weir geo accept`. */
export type UpdateResult = 'new' | 'unchanged' | 'held' | 'failed';

/** The last update of one kind. */
export interface KindUpdate {
  readonly result: UpdateResult;
  /** Why it failed or is held, or what is new; empty where there is nothing to tell. */
  readonly text: string;
  /** What was downloaded last and is still there; null = nothing. */
  readonly download: KnownDownload | null;
}

/** A download that passed the checks. */
export interface KnownDownload {
  /** What the server said of each of its files, in their order. */
  readonly validators: readonly Validators[];
  /** Size and time of the file here: another file under its name is not this download. */
  readonly mark: string;
  /** Whether it waits for `weir geo accept`, instead of being in use. */
  readonly isHeld: boolean;
}

/** The last update. */
export interface UpdateState {
  /** When it was tried, ms since 1970. */
  readonly triedAt: number;
  readonly kinds: Partial<Readonly<Record<GeoKind, KindUpdate>>>;
}

const stateFile = (folder: string) => join(folder, 'update.json');

/** The last update; undefined when there was none, or nobody can tell. */
export async function readUpdateState(folder: string): Promise<UpdateState | undefined> {
  try {
    return JSON.parse(await readFile(stateFile(folder), 'utf8')) as UpdateState;
  } catch {
    return undefined;
  }
}

/** Keeps it for the next update. */
export async function writeUpdateState(folder: string, state: UpdateState): Promise<void> {
  const temporary = `${stateFile(folder)}.${process.pid}.tmp`;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(temporary, JSON.stringify(state), { mode: 0o600 });
  await rename(temporary, stateFile(folder));
}
