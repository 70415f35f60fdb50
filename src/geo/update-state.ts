/** In the download folder, for the next update and `weir geo status` (SPEC D17.8). */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Validators } from '../fetch/fetch.ts';
import type { GeoKind } from './kind.ts';

/** `held`: the download has under half of the data in use, and waits for `weir geo accept`. */
export type UpdateResult = 'new' | 'unchanged' | 'held' | 'failed';

export interface KindUpdate {
  readonly result: UpdateResult;
  /** Of a failure or hold, or the change; may be empty. */
  readonly text: string;
  /** If its file still exists. */
  readonly download: KnownDownload | null;
}

/** A download that passed the checks. */
export interface KnownDownload {
  /** One per file, in order. */
  readonly validators: readonly Validators[];
  /** A different file under its name has another mark. */
  readonly mark: string;
  /** Whether it waits for `weir geo accept`. */
  readonly isHeld: boolean;
}

export interface UpdateState {
  /** Start of the update, ms since 1970. */
  readonly triedAt: number;
  readonly kinds: Partial<Readonly<Record<GeoKind, KindUpdate>>>;
}

const stateFile = (folder: string) => join(folder, 'update.json');

/** undefined: missing or unreadable. */
export async function readUpdateState(folder: string): Promise<UpdateState | undefined> {
  try {
    return JSON.parse(await readFile(stateFile(folder), 'utf8')) as UpdateState;
  } catch {
    return undefined;
  }
}

export async function writeUpdateState(folder: string, state: UpdateState): Promise<void> {
  const temporary = `${stateFile(folder)}.${process.pid}.tmp`;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(temporary, JSON.stringify(state), { mode: 0o600 });
  await rename(temporary, stateFile(folder));
}
