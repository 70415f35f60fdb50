/** Cache of digests without a caller. Entries are valid until the key revision changes; the oldest is evicted. */
export function unknownKeys(most: number) {
  const digests = new Set<string>();
  let known: number | undefined;

  return {
    has: (digest: string, revision: number) => revision === known && digests.has(digest),
    /** `revision`: read before the look-up. */
    add(digest: string, revision: number) {
      if (revision !== known) digests.clear();
      known = revision;
      digests.add(digest);
      if (digests.size > most) digests.delete(digests.values().next().value!);
    },
  };
}
