import { servedAs } from '../account/target.ts';
import { ACCESS_ACTIONS, type AccessAction } from '../rule.ts';
import { FORMAT_NAMES, FORMATS, type Format, formatOf } from './formats/table.ts';

export const FAMILIES = ['v4', 'v6', 'both'] as const;
export type Family = (typeof FAMILIES)[number];

/** Everything but the coding. */
export interface Variant {
  readonly document: 'feed';
  readonly format: Format;
  readonly family: Family;
  readonly action: AccessAction;
}

const perName = <K extends string, T>(names: readonly K[], make: (name: K) => T) =>
  Object.fromEntries(names.map((name) => [name, make(name)])) as Record<K, T>;

/** One object per variant: usable as a map key. */
const VARIANTS = perName(FORMAT_NAMES, (format) =>
  perName(FAMILIES, (family) => perName(ACCESS_ACTIONS, (action): Variant => Object.freeze({ document: 'feed', format, family, action }))),
);

/** Equal variants are the same object. */
export const variantOf = (asked: Partial<Variant>, defaults: Variant): Variant =>
  VARIANTS[asked.format ?? defaults.format][asked.family ?? defaults.family][asked.action ?? defaults.action];

/** The defaults of a list without stored ones (spec 4.3). */
export const DEFAULT_VARIANT: Variant = VARIANTS.plain.both.block;

type HowServed = Parameters<typeof servedAs>[0];
type ServedSettings = HowServed & { readonly action: string | null };

/** The defaults of a list or composed feed (spec 4.4.3). */
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

/** Default cap, entries (spec 4.6). */
export const DEFAULT_ENTRY_LIMIT = 131_072;

/** Whether the format renders single addresses under these settings (SPEC D25.3). */
export const isBare = (settings: HowServed, format: Format): boolean =>
  FORMATS[format].mayBeBare === true && servedAs(settings).hostStyle === 'bare';

/**
 * The cap, entries. For a bare format at most `DEFAULT_ENTRY_LIMIT`, whatever the settings: one rule can expand to millions of addresses.
 */
export function entryLimitOf(settings: HowServed, format?: Format): number {
  const limit = servedAs(settings).maxEntries ?? DEFAULT_ENTRY_LIMIT;
  return format !== undefined && isBare(settings, format) ? Math.min(limit, DEFAULT_ENTRY_LIMIT) : limit;
}
