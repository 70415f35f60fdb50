/** Where the download of a trial is while it lasts: a folder of the process, which goes with the trial however that ends (SPEC D47.3). */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const FOLDER = /^weir-try-(\d+)-\w+$/;

/** Does work with a new folder. The caller's thread removes it: one that works on the trial may be terminated. */
export async function inTrialFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), `weir-try-${process.pid}-`));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Removes the folders of processes that have ended. At a start also those of its own id: a container gives every start the same one. */
export function removeTrialFolders(): void {
  let names: string[] = [];
  attempt(() => {
    names = readdirSync(tmpdir());
  });
  for (const name of names) {
    const pid = Number(FOLDER.exec(name)?.[1]);
    // One of another user is theirs to remove.
    if (pid > 0 && (pid === process.pid || hasEnded(pid))) attempt(() => rmSync(join(tmpdir(), name), { recursive: true, force: true }));
  }
}

const hasEnded = (pid: number): boolean => attempt(() => process.kill(pid, 0)) === 'ESRCH';

/** Does it; the code of its failure. */
function attempt(work: () => void): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  }
}
