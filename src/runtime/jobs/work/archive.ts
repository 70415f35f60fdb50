import { SETTINGS_EVENTS } from '../../../archive/next-segment.ts';
import type { ServiceSettings } from '../../../archive/settings.ts';
import { type ArchiveWriting, archiveWriter } from '../../../archive/write.ts';
import type { Config } from '../../../settings/settings.ts';
import { openReads } from '../../engines.ts';

export interface ArchiveData extends Pick<ArchiveWriting, 'dir' | 'retention'> {
  readonly settings: Pick<Config, 'databaseUrl' | 'dataDir'>;
}

/** Audit events per read. */
const EVENTS = 1000;

export async function serve({ settings, ...writing }: ArchiveData) {
  const store = await openReads(settings as Config);
  let reports: string[] = [];
  const write = archiveWriter({ ...writing, store, report: (message) => void reports.push(message) });
  let newest: number | undefined;

  /** Workspaces with unwritten settings. */
  const changed = new Set<string | null>();
  async function findChanged(): Promise<void> {
    newest ??= await store.newestAudit();
    for (let more = true; more; ) {
      const rows = await store.auditSince(newest, EVENTS);
      for (const { event, workspaceId } of rows) if (SETTINGS_EVENTS.test(event)) changed.add(workspaceId);
      newest = rows.at(-1)?.id ?? newest;
      more = rows.length === EVENTS;
    }
  }

  return {
    /** Returns sentences for the log; a failure in one workspace does not stop the others. */
    async turn(service: ServiceSettings): Promise<{ readonly reports: readonly string[]; readonly failed: string | undefined }> {
      reports = [];
      let failed: string | undefined;
      await findChanged();
      const now = await store.ping();
      for (const { id } of await store.workspaces()) {
        try {
          await write(id, now, service, changed.has(id));
          changed.delete(id);
        } catch (error) {
          failed ??= (error as Error).message;
        }
      }
      return { reports, failed };
    },
    close: store.close,
  };
}
