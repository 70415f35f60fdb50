/** Every setting of the service: its row is all that there is to one. */
import { LIMITS_AND_SOURCES } from './limits.ts';
import { SERVING } from './serving.ts';
import type { Setting } from './setting.ts';
import { SOURCES } from './sources.ts';

/** In the order in which docs and errors list them. */
export const ROWS = { ...SERVING, ...LIMITS_AND_SOURCES, ...SOURCES };

type Rows = typeof ROWS;
type Value<S> =
  S extends Setting<infer T> ? (S extends { readonly fallback: string } | { readonly unset: unknown } ? T : T | undefined) : never;

/** The settings of a process, checked and frozen. Durations say their unit. */
export type Config = { readonly [K in keyof Rows]: Value<Rows[K]> };
