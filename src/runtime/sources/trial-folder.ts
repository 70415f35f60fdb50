/** Temporary folders of trials, removed in any case (SPEC D47.3). */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const FOLDER = /^weir-try-(\d+)-\w+$/;

/** The calling thread removes it, because the working thread may be terminated. */
export async function inTrialFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), `weir-try-${process.pid}-`));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Removes folders of ended processes, at the start also of this process id: containers reuse it. */
export function removeTrialFolders(): void {
  let names: string[] = [];
  attempt(() => {
    names = readdirSync(tmpdir());
  });
  for (const name of names) {
    const pid = Number(FOLDER.exec(name)?.[1]);
    // Folders of other users stay.
    if (pid > 0 && (pid === process.pid || hasEnded(pid))) attempt(() => rmSync(join(tmpdir(), name), { recursive: true, force: true }));
  }
}

const hasEnded = (pid: number): boolean => attempt(() => process.kill(pid, 0)) === 'ESRCH';

function attempt(work: () => void): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  }
}
