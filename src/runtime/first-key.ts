/** The first API key of a store, and what is printed with it (decisions 2). */
import { keyParts, newKeyText } from '../account/key.ts';
import type { StoreWrites } from '../ports/store.ts';
import type { Log } from './logging.ts';

/** A given key that is shorter than this can be guessed, characters. */
const SAFE_LENGTH = 24;

/**
 * Makes sure that the given key exists (BOOTSTRAP_API_KEY), or, without one, that an empty store gets a new key.
 * Resolves with the text of a key that was made up here and has to be shown; undefined otherwise.
 */
export async function ensureFirstKey(
  given: string | undefined,
  store: Pick<StoreWrites, 'bootstrap'>,
  log: Log,
): Promise<string | undefined> {
  if (given !== undefined && given.length < SAFE_LENGTH) {
    log('warn', `BOOTSTRAP_API_KEY is shorter than ${SAFE_LENGTH} characters: it can be guessed`);
  }
  const text = given ?? newKeyText();
  const { created } = await store.bootstrap({ ...keyParts(text), onlyWhenEmpty: given === undefined });
  return created && given === undefined ? text : undefined;
}

/** The line that shows a new key. */
export const keyLine = (key: string): string => `API key (shown only now): ${key}`;

/** What is printed once, with a new key: how to block an address and read the feed at `url`. */
export function welcome(url: string, key: string): string {
  return [
    keyLine(key),
    'Block an address, then read the feed:',
    `  curl -sS -H 'Authorization: Bearer ${key}' -d '[{"type":"access_rules","action":"block","ip":"192.0.2.1"}]' ${url}/v1/signal`,
    `  curl -sS -H 'Authorization: Bearer ${key}' ${url}/v1/threat/feeds`,
  ].join('\n');
}
