/** Jobs that answer one question from the store. */
import { blockGuards, type ServiceGuardRails } from '../../../account/guard-rails.ts';
import type { Workspace } from '../../../account/workspace.ts';
import { systemClock } from '../../../clock.ts';
import { WeirError } from '../../../errors.ts';
import type { GeoData } from '../../../geo/data.ts';
import { geoDatabase } from '../../../geo/database.ts';
import type { StoreReads } from '../../../ports/store.ts';
import type { Config } from '../../../settings/settings.ts';
import { openReads } from '../../engines.ts';

export interface ReadingData {
  readonly settings: Pick<Config, 'databaseUrl' | 'dataDir'>;
  readonly guardRails: ServiceGuardRails;
  readonly geo: GeoData;
}

export const reading = <T>({ settings, guardRails, geo }: ReadingData, work: (parts: ReturnType<typeof partsOf>) => Promise<T>) => ({
  async answer(): Promise<T> {
    const store = await openReads(settings as Config);
    try {
      return await work(partsOf(store, geo, guardRails));
    } finally {
      await store.close();
    }
  },
});

const partsOf = (store: StoreReads, geo: GeoData, guardRails: ServiceGuardRails) => ({
  ...{ store, geo: geoDatabase(geo), clock: systemClock, guard: blockGuards(guardRails) },
  /** The workspace with its guard rails for feeds. Rejects with NOT_FOUND. */
  async guarded(
    workspaceId: string,
  ): Promise<{ readonly workspace: Workspace; readonly guard: ReturnType<ReturnType<typeof blockGuards>> }> {
    const workspace = await store.workspace(workspaceId);
    if (workspace === undefined) throw new WeirError('NOT_FOUND', 'the workspace was deleted');
    return { workspace, guard: blockGuards(guardRails)(workspace) };
  },
});
