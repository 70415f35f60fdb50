/** SPEC D28.9. */
import { WeirError } from '../../errors.ts';
import type { StoreReads, StoreWrites } from '../../ports/store.ts';
import { MOST_DETAILS } from '../../signal/faults.ts';
import type { FieldFault } from '../../signal/validate.ts';
import { readObject, repeatedFields } from '../json-object.ts';
import { applyFile } from './apply.ts';
import { exportFile } from './export.ts';
import type { WorkspaceFiles } from './file-port.ts';
import type { About } from './kind.ts';
import { fileFaults, normalizedFile } from './schema.ts';

/** At most a second of the store's time. */
const MOST_THINGS = 2500;

type Parts = Pick<About, 'secretKeys' | 'sourceReach' | 'webhookReach'> & {
  /** 0: no limit. */
  readonly mostThings?: number;
  readonly store: StoreReads & StoreWrites;
  readonly now: () => number;
};

/** Works in the calling thread. */
export function workspaceFiles({ now, mostThings = MOST_THINGS, ...parts }: Parts): WorkspaceFiles {
  return {
    async exported(about) {
      const state = await parts.store.workspaceState(about.workspaceId);
      if (state === undefined) throw new WeirError('NOT_FOUND', 'the workspace was deleted');
      return JSON.stringify(exportFile(state, { ...parts, ...about, prune: true, now: now() }).file);
    },
    async applied(about, { bytes, request }) {
      const read = readObject(bytes);
      if ('fault' in read) return { faults: [read.fault] };
      const file = normalizedFile(read.fields);
      const faults = [...repeatedFields(bytes), ...fileFaults(file)].slice(0, MOST_DETAILS);
      if (faults.length > 0) return { faults };
      try {
        return {
          json: JSON.stringify(await applyFile({ ...parts, ...about, mostThings, pause: async () => {} }, file, request)),
        };
      } catch (error) {
        const { code, cause } = error as { readonly code?: unknown; readonly cause?: unknown };
        if (code === 'USAGE' && Array.isArray(cause)) return { faults: cause as FieldFault[] };
        throw error;
      }
    },
  };
}
