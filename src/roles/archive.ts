/** SPEC D61. */
import { randomUUID } from 'node:crypto';
import { geoVersions, type ServiceSettings } from '../archive/settings.ts';
import { systemClock } from '../clock.ts';
import { archiveThread } from '../runtime/jobs/archive.ts';
import { holdLease } from '../runtime/sources/lease.ts';
import type { Base } from './base.ts';

/** ms */
const MINUTE = 60_000;
const MEBIBYTE = 1024 * 1024;

export const archiveSettings = ({ guardRails, geo }: Pick<Base, 'guardRails' | 'geo'>): ServiceSettings => ({
  guardRails,
  geo: geoVersions(geo.data()),
});

/** Writes the archive, in processes with the role consumer. */
export function startArchive(base: Base): void {
  const { config, store, log, onStop } = base;
  const { archiveDir: dir, archiveDays: days, archiveMb, databaseUrl, dataDir } = config;
  if (dir === undefined || !config.roles.includes('consumer')) return;
  const archive = archiveThread({
    ...{ settings: { databaseUrl, dataDir }, dir, retention: { days, bytes: archiveMb * MEBIBYTE }, log },
    lease: holdLease(store, 'archive', `${process.pid}-${randomUUID()}`, systemClock.monotonic),
    service: () => archiveSettings(base),
  });
  void archive.turn();
  const timer = setInterval(() => void archive.turn(), MINUTE).unref();
  onStop(async () => {
    clearInterval(timer);
    await archive.close();
  });
}
