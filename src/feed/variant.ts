import { servedAs } from '../account/target.ts';
import { ACCESS_ACTIONS, type AccessAction } from '../rule.ts';
import { FORMAT_NAMES, FORMATS, type Format, formatOf } from './formats/table.ts';

/** Which addresses a feed publishes (spec 4.3). */
export const FAMILIES = ['v4', 'v6', 'both'] as const;
export type Family = (typeof FAMILIES)[number];

/** What distinguishes the representations of one feed, apart from the coding. */
export interface Variant {
  /** Among what is served of a workspace (document.ts). */
  readonly document: 'feed';
  readonly format: Format;
  readonly family: Family;
  readonly action: AccessAction;
}

const perName = <K extends string, T>(names: readonly K[], make: (name: K) => T) =>
  Object.fromEntries(names.map((name) => [name, make(name)])) as Record<K, T>;

/** The one object of each variant, so that equal variants are the same key of a map. */
const VARIANTS = perName(FORMAT_NAMES, (format) =>
  perName(FAMILIES, (family) => perName(ACCESS_ACTIONS, (action): Variant => Object.freeze({ document: 'feed', format, family, action }))),
);

/** The variant that is asked for, with `defaults` for what is not said. Equal variants are the same object. */
export const variantOf = (asked: Partial<Variant>, defaults: Variant): Variant =>
  VARIANTS[asked.format ?? defaults.format][asked.family ?? defaults.family][asked.action ?? defaults.action];

/** The variant of a request that asks for nothing, of a list that stores no defaults (spec 4.3). */
export const DEFAULT_VARIANT: Variant = VARIANTS.plain.both.block;

/** Settings of a feed that say how it is served. */
type HowServed = Parameters<typeof servedAs>[0];
type ServedSettings = HowServed & { readonly action: string | null };

/** The variant of a request that asks for nothing, of a list or a composed feed with these stored defaults (spec 4.4.3). */
export function storedVariant(settings: ServedSettings): Variant {
  const { format, family } = servedAs(settings);
  return variantOf(
    {
      format: formatOf(format ?? DEFAULT_VARIANT.format),
      family: FAMILIES.find((known) => known === family),
      action: ACCESS_ACTIONS.find((known) => known === settings.action),
    },
    DEFAULT_VARIANT,
  );
}

/** Entries a feed may have unless its list says otherwise (spec 4.6). */
export const DEFAULT_ENTRY_LIMIT = 131_072;

/** Whether a feed with these settings has single addresses in a format (SPEC D25.3). */
export const isBare = (settings: HowServed, format: Format): boolean =>
  FORMATS[format].mayBeBare === true && servedAs(settings).hostStyle === 'bare';

/**
 * Entries that a feed with these settings may have; in a format where it is bare at most `DEFAULT_ENTRY_LIMIT`, whatever they say: one rule
 * may stand for millions of addresses there.
 */
export function entryLimitOf(settings: HowServed, format?: Format): number {
  const limit = servedAs(settings).maxEntries ?? DEFAULT_ENTRY_LIMIT;
  return format !== undefined && isBare(settings, format) ? Math.min(limit, DEFAULT_ENTRY_LIMIT) : limit;
}
