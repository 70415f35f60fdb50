import { LIMITS_AND_SOURCES } from './limits.ts';
import { SERVING } from './serving.ts';
import type { Setting } from './setting.ts';
import { SOURCES } from './sources.ts';

/** In the order of docs and errors. */
export const ROWS = { ...SERVING, ...LIMITS_AND_SOURCES, ...SOURCES };

type Rows = typeof ROWS;
type Value<S> =
  S extends Setting<infer T> ? (S extends { readonly fallback: string } | { readonly unset: unknown } ? T : T | undefined) : never;

/** Validated and frozen. Names of durations contain the unit. */
export type Config = { readonly [K in keyof Rows]: Value<Rows[K]> };
