/** The first API key of a store (SPEC D2.3). */
import { BOOTSTRAP_KEY_NAME, keyParts, newKeyText, SAFE_KEY_LENGTH, type SavedKey } from '../account/key.ts';
import type { Log } from '../ports/log.ts';
import type { Store } from '../ports/store.ts';

/**
 * BOOTSTRAP_API_KEY, or a new key in an empty store. `made`: a key was created; `printed`: its generated text, to be printed. Warns about
 * weak or already known keys, and about older first keys that still work.
 */
export async function ensureFirstKey(
  given: string | undefined,
  store: Pick<Store, 'bootstrap' | 'savedKeys'>,
  now: number,
  log: Log,
): Promise<{ readonly made: boolean; readonly printed: string | undefined }> {
  if (given !== undefined && given.length < SAFE_KEY_LENGTH) {
    log('warn', `BOOTSTRAP_API_KEY is shorter than ${SAFE_KEY_LENGTH} characters: it can be guessed`);
  }
  const text = given ?? newKeyText();
  const { hash, prefix } = keyParts(text);
  const { created, workspaceId } = await store.bootstrap({ hash, prefix, onlyWhenEmpty: given === undefined });
  if (given !== undefined) {
    const keys = await store.savedKeys(workspaceId);
    const own = keys.find((key) => Buffer.from(hash).equals(key.hash));
    const odd = own && oddity(own, now);
    if (odd !== undefined) log('warn', odd);
    for (const { id, createdAt } of keys.filter((key) => isOlderFirstKey(key, hash, now))) {
      const since = new Date(createdAt).toISOString();
      log(
        'warn',
        `an older first key still works in addition to BOOTSTRAP_API_KEY: ${id}, made ${since}; end it with: weir key revoke ${id}`,
      );
    }
  }
  return { made: created, printed: created && given === undefined ? text : undefined };
}

/** From a full first key; undefined: none. */
function oddity({ id, name, permissions, revokedAt, expiresAt }: SavedKey, now: number): string | undefined {
  if (revokedAt !== null) return `BOOTSTRAP_API_KEY is the key ${id}, which is revoked`;
  if (expiresAt !== null && expiresAt <= now) return `BOOTSTRAP_API_KEY is the key ${id}, which has expired`;
  if (name === BOOTSTRAP_KEY_NAME) return undefined;
  return `BOOTSTRAP_API_KEY is the key ${id}, which existed before; its workspace and permissions are unchanged: ${permissions.join(', ')}`;
}

/** At `now` (ms), other than this hash. */
const isOlderFirstKey = ({ name, hash, revokedAt, expiresAt }: SavedKey, given: Uint8Array, now: number): boolean =>
  name === BOOTSTRAP_KEY_NAME && revokedAt === null && (expiresAt === null || expiresAt > now) && !Buffer.from(given).equals(hash);

export const keyLine = (key: string): string => `API key (shown only now): ${key}`;

/** Documentation addresses (RFC 5737, RFC 6676); guard rails may protect the first. */
const EXAMPLES = ['192.0.2.1', '233.252.0.1'];

/** How to block an address and read the feed. */
export function welcome(url: string, key: string, mayBlock: (address: string) => boolean): string {
  const example = EXAMPLES.find(mayBlock) ?? EXAMPLES[0];
  return [
    keyLine(key),
    'Block an address, then read the feed:',
    `  curl -sS -H 'Authorization: Bearer ${key}' -d '[{"type":"access_rules","action":"block","ip":"${example}"}]' ${url}/v1/signal`,
    `  curl -sS -H 'Authorization: Bearer ${key}' ${url}/v1/threat/feeds`,
  ].join('\n');
}
