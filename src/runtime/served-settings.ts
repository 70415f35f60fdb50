/** By which a command evaluates feeds (SPEC D10.22). */
import { resolve } from 'node:path';
import type { ServiceGuardRails } from '../account/guard-rails.ts';
import type { JudgingSettings } from '../manage/status.ts';
import type { Config } from '../settings/settings.ts';
import { geoFiles } from './geo.ts';
import { serviceGuardRails } from './guard-rails.ts';
import { readStatusFiles } from './ledgers/status-file.ts';

/** In a server's status; they affect feed contents. */
export const judgingSettings = (config: Config, guardRails: ServiceGuardRails): JudgingSettings => ({
  guardRails,
  ...(config.geoCountryFile !== undefined && { geoCountryFile: resolve(config.geoCountryFile) }),
  ...(config.geoAsnFile !== undefined && { geoAsnFile: resolve(config.geoAsnFile) }),
});

/** Of the server on this DATA_DIR; without one the command's own. */
export function servedSettings(config: Config): { readonly guardRails: ServiceGuardRails; readonly geo: ReturnType<typeof geoFiles> } {
  const served = readStatusFiles(config.dataDir, Date.now()).find(({ judges }) => judges !== undefined)?.judges;
  if (served === undefined) return { guardRails: serviceGuardRails(config), geo: geoFiles(config) };
  const { guardRails, geoCountryFile, geoAsnFile } = served;
  return { guardRails, geo: geoFiles({ geoCountryFile, geoAsnFile, dataDir: config.dataDir }) };
}
