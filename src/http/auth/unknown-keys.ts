/**
 * Keys that the store has answered for with no caller, by their SHA-256: they count as unknown until the key revision moves. An empty memory
 * of at most `most` keys; the oldest ones leave it first.
 */
export function unknownKeys(most: number) {
  const digests = new Set<string>();
  let known: number | undefined;

  return {
    has: (digest: string, revision: number) => revision === known && digests.has(digest),
    /** Remembers a key that was looked up after the store had this revision. */
    add(digest: string, revision: number) {
      if (revision !== known) digests.clear();
      known = revision;
      digests.add(digest);
      if (digests.size > most) digests.delete(digests.values().next().value!);
    },
  };
}
