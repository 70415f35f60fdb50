import { pastLookUp } from '../../../archive/lookup.ts';
import type { ServiceSettings } from '../../../archive/settings.ts';
import type { PastLookUp } from '../../../manage/lookup/past.ts';
import type { Config } from '../../../settings/settings.ts';
import { openReads } from '../../engines.ts';

export interface PastData {
  readonly settings: Pick<Config, 'databaseUrl' | 'dataDir'>;
  readonly dir: string;
  readonly service: ServiceSettings;
  readonly asked: PastLookUp;
}

export const serve = ({ settings, dir, service, asked }: PastData) => ({
  async answer() {
    const store = await openReads(settings as Config);
    try {
      return await pastLookUp(asked, dir, store, service);
    } finally {
      await store.close();
    }
  },
});
