/** SPEC D23.41. */

import type { SecretKeys } from '../../account/encrypted-secret.ts';
import type { StoreReads } from '../../ports/store.ts';
import { everyItem } from '../../ports/stored/paginate.ts';
import type { SourceWithSecret } from '../../ports/stored/source-store.ts';
import type { ContentOf } from '../../source/refresh/content.ts';
import type { TryJob } from '../../source/try-source.ts';
import { fieldFault, fieldFaults } from '../operation.ts';
import { credentialHeaders, givenHeaders } from './source-secret.ts';
import { changedSettings, type OpenSettings, type Reach, settingsFaults } from './source-settings.ts';
import { findSource, newSource, settingsOf, type WantedSource } from './sources.ts';

/** Either `source`, a URL or a catalogue entry. */
export interface WantedTrial extends WantedSource {
  readonly source?: string | undefined;
  readonly name?: string | undefined;
}

interface TrialContext {
  readonly store: Pick<StoreReads, 'findNamed' | 'source' | 'allSources'>;
  readonly workspaceId: string;
  readonly secretKeys: SecretKeys;
  readonly sourceReach: Reach;
}

/** Rejects with USAGE and NOT_FOUND. */
export async function trialOf(context: TrialContext, { source: ref, ...wanted }: WantedTrial): Promise<TryJob> {
  const { store, workspaceId, secretKeys, sourceReach } = context;
  const { auth, authHeader, secret, name: given, ...settings } = wanted;
  const known = ref === undefined ? undefined : await findSource(store, workspaceId, ref);
  const { name, ...found } =
    known === undefined
      ? newSource({ ...settings, name: given ?? settings.catalogue ?? nameOf(settings.url) })
      : { name: known.source.name, ...changedSettings(settingsOf(known.source), settings) };
  const [fault, ...others] = settingsFaults(found, sourceReach);
  if (fault !== undefined) throw fieldFaults([fault, ...others]);
  const own = givenHeaders({ auth, authHeader, secret });
  return {
    workspaceId,
    content: contentOf(name, found),
    listId: known?.source.listId ?? null,
    credentials: own ?? (known === undefined ? {} : await storedHeaders(store, secretKeys, known.source, found.url)),
  };
}

const contentOf = (name: string, { url, purpose, reading, guards }: OpenSettings): ContentOf => ({ name, url, purpose, reading, guards });

const nameOf = (url: string | undefined): string => (url !== undefined && URL.canParse(url) ? new URL(url).hostname : 'new');

/** Never for another origin. */
async function storedHeaders(
  store: Pick<StoreReads, 'allSources'>,
  keys: SecretKeys,
  { id, credential }: SourceWithSecret['source'],
  url: string,
): Promise<Readonly<Record<string, string>>> {
  if (credential === null) return {};
  for await (const sealed of everyItem((page) => store.allSources(page))) {
    const headers = sealed.source.id === id ? credentialHeaders(keys, { ...sealed, source: { ...sealed.source, url } }) : undefined;
    if (headers !== undefined) return headers;
  }
  throw fieldFault('secret', 'cannot be decrypted, or is for another origin: give it again');
}
