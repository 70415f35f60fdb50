/** What a command judges feeds by (SPEC D10.22). */
import { resolve } from 'node:path';
import type { ServiceGuardRails } from '../account/guard-rails.ts';
import type { JudgingSettings } from '../manage/status.ts';
import type { Config } from '../settings/settings.ts';
import { geoFiles } from './geo.ts';
import { serviceGuardRails } from './guard-rails.ts';
import { readStatusFiles } from './ledgers/status-file.ts';

/** What a server says of its settings in its status: those that decide what feeds hold. */
export const judgingSettings = (config: Config, guardRails: ServiceGuardRails): JudgingSettings => ({
  guardRails,
  ...(config.geoCountryFile !== undefined && { geoCountryFile: resolve(config.geoCountryFile) }),
  ...(config.geoAsnFile !== undefined && { geoAsnFile: resolve(config.geoAsnFile) }),
});

/** The guard rails and geo files of a server that runs on this DATA_DIR, whatever the environment of the command says; without one the command's own. */
export function servedSettings(config: Config): { readonly guardRails: ServiceGuardRails; readonly geo: ReturnType<typeof geoFiles> } {
  const served = readStatusFiles(config.dataDir, Date.now()).find(({ judges }) => judges !== undefined)?.judges;
  if (served === undefined) return { guardRails: serviceGuardRails(config), geo: geoFiles(config) };
  const { guardRails, geoCountryFile, geoAsnFile } = served;
  return { guardRails, geo: geoFiles({ geoCountryFile, geoAsnFile, dataDir: config.dataDir }) };
}
