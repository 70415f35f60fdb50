import { MAX_CHARACTERS, MAX_REGEXES } from '@weir/expression/parser.ts';

/** Limits of spec 8 and of one signal entry. Characters are Unicode code points, sizes are bytes of JSON in UTF-8. */
export const LIMITS = {
  batchEntries: 1000,
  batchBytes: 16 * 1024 * 1024,
  entryBytes: 64 * 1024,
  /** One entry with its white space and escapes: every character of the largest one escaped, and a third more. */
  entryRawBytes: 512 * 1024,
  /** Far more than any known field may have. */
  entryDepth: 64,
  name: 256,
  text: 2048,
  expression: MAX_CHARACTERS,
  regexes: MAX_REGEXES,
  labelsBytes: 8 * 1024,
  configBytes: 32 * 1024,
  jsonDepth: 8,
  /** One hundred years, in seconds. */
  expirySeconds: 3_155_760_000,
} as const;

/**
 * Instants of acceptance (ms since 1970) that landing takes, from 2000 to 2199. Another producer's seconds, microseconds or nanoseconds
 * lie outside; every store, and a year of four digits, can hold what lies inside with the longest expiry on top.
 */
export const ACCEPTANCE = { first: Date.UTC(2000, 0, 1), last: Date.UTC(2200, 0, 1) - 1 } as const;

/** The caller-stable identifier of spec 2.2. */
export const RULE_REF_PATTERN = '^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$';
