/** Whether the disk of a folder has room for what engines write. */
import { type StatsFs, statfsSync } from 'node:fs';

/** With less than this left, bytes, an engine's next write fails. */
const LEAST = 64 * 1024;

/** Why nothing can be written there; undefined where it can. */
export const quotaFault = ({ bavail, bsize }: Pick<StatsFs, 'bavail' | 'bsize'>): string | undefined =>
  bavail * bsize < LEAST ? 'the disk of DATA_DIR is full' : undefined;

/** The same of the disk that a folder is on. */
export const diskFault = (folder: string): string | undefined => quotaFault(statfsSync(folder));
