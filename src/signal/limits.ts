import { MAX_CHARACTERS, MAX_REGEXES } from '@weir/expression/parser.ts';

/** Limits of spec 8 and of signal entries. Characters are Unicode code points, sizes are bytes of UTF-8 JSON. */
export const LIMITS = {
  batchEntries: 1000,
  batchBytes: 16 * 1024 * 1024,
  entryBytes: 64 * 1024,
  /** Including white space and escapes: the largest entry completely escaped, plus a third. */
  entryRawBytes: 512 * 1024,
  /** Much deeper than known fields. */
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
 * Acceptance times valid for landing (ms since 1970): 2000 to 2199. Excludes seconds, microseconds and nanoseconds of other producers; with
 * the longest expiry added, every store and four-digit years can represent it.
 */
export const ACCEPTANCE = { first: Date.UTC(2000, 0, 1), last: Date.UTC(2200, 0, 1) - 1 } as const;

export const RULE_REF_PATTERN = '^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$';
