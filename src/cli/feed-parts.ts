/** The geo data and guard rails for commands that build feeds (SPEC D10.22). */
import { blockGuards } from '../account/guard-rails.ts';
import { systemClock } from '../clock.ts';
import { geoDatabase } from '../geo/database.ts';
import { loadGeo } from '../geo/load.ts';
import { servedSettings } from '../runtime/served-settings.ts';
import type { Context } from './context.ts';

/** The geo data and guard rails of the server on this DATA_DIR. Rejects where a geo file cannot be used. */
export async function servedParts({ config }: Pick<Context, 'config'>) {
  const { geo, guardRails } = servedSettings(config);
  const geoData = await loadGeo(geo, config.dataDir);
  return { geo: geoDatabase(geoData), geoData, guard: blockGuards(guardRails), guardRails, clock: systemClock };
}
