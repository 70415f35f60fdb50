import { type StatsFs, statfsSync } from 'node:fs';

/** Bytes that a write of an engine needs. */
const LEAST = 64 * 1024;

/** undefined: there is enough space. */
export const quotaFault = ({ bavail, bsize }: Pick<StatsFs, 'bavail' | 'bsize'>): string | undefined =>
  bavail * bsize < LEAST ? 'the disk of DATA_DIR is full' : undefined;

export const diskFault = (folder: string): string | undefined => quotaFault(statfsSync(folder));
