import { ACCESS_ACTIONS, type AccessAction } from '../rule.ts';

/** The output dialects (spec 4.5), by the names that errors and documentation list. */
export const CANONICAL_FORMATS = ['plain', 'commented', 'csv_indicator', 'set_elements'] as const;
export type Format = (typeof CANONICAL_FORMATS)[number];

/** Other names of a dialect: what vendors' devices are configured with. Add a vendor here. */
const FORMAT_ALIASES: Readonly<Record<string, Format>> = {
  txt: 'plain',
  paloalto: 'plain',
  panos: 'plain',
  fortigate: 'plain',
  fortinet: 'plain',
};

const NAMES = new Map<string, Format>([...CANONICAL_FORMATS.map((name) => [name, name] as const), ...Object.entries(FORMAT_ALIASES)]);

/** Every name under which a format can be asked for. */
export const FORMAT_NAMES: readonly string[] = [...NAMES.keys()];

/** The dialect behind a name or alias; undefined for an unknown one. Case-sensitive. */
export const canonicalFormat = (name: string): Format | undefined => NAMES.get(name);

/** Which addresses a feed publishes (spec 4.3). */
export const FAMILIES = ['v4', 'v6', 'both'] as const;
export type Family = (typeof FAMILIES)[number];

/** What distinguishes the representations of one feed, apart from the coding. */
export interface Variant {
  readonly format: Format;
  readonly family: Family;
  readonly action: AccessAction;
}

const perName = <K extends string, T>(names: readonly K[], make: (name: K) => T) =>
  Object.fromEntries(names.map((name) => [name, make(name)])) as Record<K, T>;

/** The one object of each variant, so that equal views are the same key of a map. */
const VARIANTS = perName(CANONICAL_FORMATS, (format) =>
  perName(FAMILIES, (family) => perName(ACCESS_ACTIONS, (action): Variant => Object.freeze({ format, family, action }))),
);

/** The variant that is asked for, with `defaults` for what is not said. Equal views are the same object. */
export const variantOf = (asked: Partial<Variant>, defaults: Variant): Variant =>
  VARIANTS[asked.format ?? defaults.format][asked.family ?? defaults.family][asked.action ?? defaults.action];

/** The variant of a request that asks for nothing, of a list that stores no defaults (spec 4.3). */
export const DEFAULT_VARIANT: Variant = VARIANTS.plain.both.block;

/** Entries a feed may have unless its list says otherwise (spec 4.6). */
export const DEFAULT_ENTRY_LIMIT = 131_072;
