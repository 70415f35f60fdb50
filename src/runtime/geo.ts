import { join } from 'node:path';
import type { GeoData } from '../geo/data.ts';
import { geoDatabase } from '../geo/database.ts';
import { loadGeo } from '../geo/load.ts';
import { geoStatus } from '../geo/status.ts';
import { watchGeo } from '../geo/watch.ts';
import type { GeoDatabase } from '../ports/geo.ts';
import type { Log } from '../ports/log.ts';
import type { Config } from '../settings/settings.ts';

type GeoSettings = Pick<Config, 'geoCountryFile' | 'geoAsnFile' | 'dataDir'>;

export const geoFiles = ({ geoCountryFile, geoAsnFile, dataDir }: GeoSettings) => ({
  country: geoCountryFile,
  asn: geoAsnFile,
  downloads: join(dataDir, 'geo'),
});

/** Logs the age of the data; rejects with GEO_FILE. */
export async function loadGeoData(settings: GeoSettings, now: () => number, log: Log): Promise<GeoData> {
  const data = await loadGeo(geoFiles(settings), settings.dataDir);
  const { country, asn } = geoStatus(data, now());
  log('info', `geo data: countries ${country.age_days} days old (${country.source}), ASNs ${asn.age_days} days old (${asn.source})`);
  return data;
}

export interface GeoInUse {
  database(): GeoDatabase;
  data(): GeoData;
  /** Reads the operator's files again (SIGHUP). */
  reload(): Promise<void>;
  close(): void;
}

/** Passes changed files to `onChange`; logs and ignores broken ones. */
export function useGeo(settings: GeoSettings, data: GeoData, onChange: (data: GeoData) => void, log: Log): GeoInUse {
  let inUse = data;
  let database = geoDatabase(data);
  const watch = watchGeo({
    files: geoFiles(settings),
    data,
    cacheDir: settings.dataDir,
    onChange(next) {
      inUse = next;
      database = geoDatabase(next);
      onChange(next);
    },
    log: (outcome, text) => log(outcome === 'refused' ? 'error' : 'info', text),
  });
  return { database: () => database, data: () => inUse, reload: () => watch.reload(), close: () => watch.close() };
}
