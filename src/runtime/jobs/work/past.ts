import { pastDifference } from '../../../archive/difference.ts';
import { pastLookUp } from '../../../archive/lookup.ts';
import type { ServiceSettings } from '../../../archive/settings.ts';
import type { PastAnswer, PastDifference, PastDifferenceAsked, PastLookUp } from '../../../manage/lookup/past.ts';
import type { Config } from '../../../settings/settings.ts';
import { openReads } from '../../engines.ts';

export interface PastData {
  readonly settings: Pick<Config, 'databaseUrl' | 'dataDir'>;
  readonly dir: string;
  readonly service: ServiceSettings;
  readonly asked: PastLookUp | PastDifferenceAsked;
}

export const serve = ({ settings, dir, service, asked }: PastData) => ({
  async answer(): Promise<PastAnswer | PastDifference> {
    const store = await openReads(settings as Config);
    try {
      return await ('since' in asked ? pastDifference(asked, dir, store, service) : pastLookUp(asked, dir, store, service));
    } finally {
      await store.close();
    }
  },
});
