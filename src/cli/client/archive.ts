/** Reads the archive of this host. */
import type { PastReader } from '../../manage/lookup/past.ts';
import type { StoreReads } from '../../ports/store.ts';
import { servedSettings } from '../../runtime/served-settings.ts';
import type { Context } from '../context.ts';

/** undefined: no ARCHIVE_DIR. */
export function localArchive({ config }: Context, store: StoreReads): PastReader | undefined {
  const { archiveDir: dir, dataDir } = config;
  if (dir === undefined) return undefined;
  const service = async () => {
    const { geo, guardRails } = servedSettings(config);
    const { loadGeo } = await import('../../geo/load.ts');
    return { guardRails, geo: (await import('../../archive/settings.ts')).geoVersions(await loadGeo(geo, dataDir)) };
  };
  return {
    lookUp: async (asked) => (await import('../../archive/lookup.ts')).pastLookUp(asked, dir, store, await service()),
    difference: async (asked) => (await import('../../archive/difference.ts')).pastDifference(asked, dir, store, await service()),
  };
}
