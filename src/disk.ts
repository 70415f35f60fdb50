/** Full disks. */
import { existsSync, type StatsFs, statfsSync } from 'node:fs';
import { dirname } from 'node:path';

/** Bytes that a write of an engine needs. */
const LEAST = 64 * 1024;

/** undefined: there is enough space. */
export const quotaFault = ({ bavail, bsize }: Pick<StatsFs, 'bavail' | 'bsize'>): string | undefined =>
  bavail * bsize < LEAST ? 'the disk of DATA_DIR is full' : undefined;

export const diskFault = (folder: string): string | undefined => quotaFault(statfsSync(folder));

/** Names the file in the error of SQLite, and a full disk: SQLite may report it as an I/O error. */
export function nameFile(error: Error, part: 'store' | 'stream', path: string): Error {
  const fault = existsSync(dirname(path)) ? diskFault(dirname(path)) : undefined;
  error.message = `the ${part}'s file ${path} cannot be used: ${fault ?? error.message}`;
  return error;
}
