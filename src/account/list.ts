import { FORMAT_ALIASES, FORMAT_NAMES } from '../feed/formats/table.ts';
import { DEFAULT_ENTRY_LIMIT, FAMILIES } from '../feed/variant.ts';
import { ACCESS_ACTIONS, type AccessAction, LEVELS, type Level } from '../rule.ts';
import { REPEAT_RULE, repeatOf } from './repeat.ts';
import { HOST_STYLES, type HostStyle, TARGET_NAMES, type TargetName } from './target.ts';

const SUBTRACT_ALLOW = ['on', 'workspace', 'off'] as const;
export type SubtractAllow = (typeof SUBTRACT_ALLOW)[number];

/** The origin of decisions for bouncers: weir, or each one's list (SPEC D31.1). */
const ORIGINS = ['weir', 'lists'] as const;
export type Origins = (typeof ORIGINS)[number];

/** null = the service's default (spec 2.6, 4.4.3). */
export interface ListSettings {
  readonly description: string | null;
  readonly format: string | null;
  readonly family: string | null;
  readonly action: AccessAction | null;
  readonly maxEntries: number | null;
  readonly confidence: Level | null;
  readonly severity: Level | null;
  /** Never-block rules subtracted from the block feed: its own, those of all lists of the workspace, none (SPEC D7.6). */
  readonly subtractAllow: SubtractAllow | null;
  /** Bouncers receive networks of up to this many addresses as single addresses, and no larger ones (SPEC D14.10); null: networks. */
  readonly singleAddresses: number | null;
  /** Device that enforces the feed; sets defaults of format, family, host style and cap (SPEC D25.1). */
  readonly target: TargetName | null;
  /** SPEC D25.3. */
  readonly hostStyle: HostStyle | null;
  /** Whether bouncers receive the list of each network, for counts by list (SPEC D31.1). */
  readonly origins: Origins | null;
  /** Prefix lengths of the networks as which block feeds serve blocked hosts (SPEC D55.1); null: as sent. */
  readonly widenV4: number | null;
  readonly widenV6: number | null;
  /** Longer blocks for targets that are blocked again (`account/repeat.ts`, SPEC D56); null: as sent. Lists only. */
  readonly repeat: string | null;
  /** Names or ids of the keys that receive large changes of the feed first (SPEC D65); null: none. */
  readonly canaryKeys: string | null;
  readonly canaryMinutes: number | null;
}

/** Allowed values: a text with a maximum length, words (`aliases`: synonyms), numbers, or an integer range. */
type Range =
  | { readonly longest: number; readonly format?: 'repeat' }
  | { readonly numbers: readonly number[] }
  | { readonly words: readonly string[]; readonly aliases?: Readonly<Record<string, string>> }
  | { readonly least: number; readonly most: number };

export type ListSetting = Range & {
  /** Column in the store and name in JSON; with dashes, the command line option. */
  readonly field: string;
  readonly value: string;
  readonly help: string;
};

const level = { value: 'level', words: LEVELS, help: LEVELS.join(', ') };

/** A new setting needs a row here, a member above and a column in a migration. */
export const LIST_SETTINGS: Readonly<Record<keyof ListSettings, ListSetting>> = {
  description: { field: 'description', value: 'text', longest: 2048, help: 'shown in the header of the format commented' },
  format: {
    field: 'format',
    value: 'format',
    words: FORMAT_NAMES,
    aliases: Object.fromEntries(FORMAT_ALIASES),
    help: FORMAT_NAMES.join(', '),
  },
  family: { field: 'family', value: 'family', words: FAMILIES, help: FAMILIES.join(', ') },
  action: { field: 'action', value: 'action', words: ACCESS_ACTIONS, help: ACCESS_ACTIONS.join(' or ') },
  maxEntries: {
    field: 'max_entries',
    value: 'count',
    least: 1,
    most: 4_000_000,
    help: `limit of the feed; default: the limit of its device, else ${DEFAULT_ENTRY_LIMIT.toLocaleString('en')}`,
  },
  confidence: { field: 'confidence', ...level },
  severity: { field: 'severity', ...level },
  subtractAllow: {
    field: 'subtract_allow',
    value: 'which',
    words: SUBTRACT_ALLOW,
    help: "never-block rules to subtract from the block feed: on (the list's own), workspace (those of all lists), off",
  },
  singleAddresses: {
    field: 'single_addresses',
    value: 'count',
    least: 1,
    most: 65_536,
    help: 'for bouncers that accept only single addresses: size of the largest network to split into addresses; larger ones are left out',
  },
  target: {
    field: 'target',
    value: 'device',
    words: TARGET_NAMES,
    help: 'device that enforces the feed; sets the defaults of format, family, address style and entry limit',
  },
  hostStyle: {
    field: 'host_style',
    value: 'style',
    words: HOST_STYLES,
    help: 'bare: plain and commented write single addresses without a prefix length, and networks address by address',
  },
  origins: {
    field: 'origins',
    value: 'what',
    words: ORIGINS,
    help: 'lists: bouncers get the list of each network and count by list',
  },
  widenV4: { field: 'widen_v4', value: 'prefix', numbers: [24], help: 'block feeds have the /24 of a blocked IPv4 address' },
  widenV6: {
    field: 'widen_v6',
    value: 'prefix',
    numbers: [64, 56, 48],
    help: 'block feeds have the /64, /56 or /48 of a blocked IPv6 address',
  },
  repeat: {
    field: 'repeat',
    value: 'rule',
    longest: 40,
    format: 'repeat',
    help: 'longer blocks of addresses that are blocked again: "x4 within 30d up to 30d" multiplies by 4 each time, until 30 days after the end of the last block',
  },
  canaryKeys: {
    field: 'canary_keys',
    value: 'keys',
    longest: 2000,
    help: 'names or ids of the keys that receive large changes first, separated by commas',
  },
  canaryMinutes: {
    field: 'canary_minutes',
    value: 'minutes',
    least: 1,
    most: 1440,
    help: 'time until the other keys receive a large change; default: 10',
  },
};

export const SETTING_NAMES = Object.keys(LIST_SETTINGS) as readonly (keyof ListSettings)[];

export const settingsOf = (row: Readonly<Record<string, unknown>>): ListSettings =>
  Object.fromEntries(SETTING_NAMES.map((name) => [name, row[LIST_SETTINGS[name].field] ?? null])) as unknown as ListSettings;

export const NO_SETTINGS: ListSettings = settingsOf({});

export const settingsJson = (settings: ListSettings): Record<string, string | number | null> =>
  Object.fromEntries(SETTING_NAMES.map((name) => [LIST_SETTINGS[name].field, settings[name]]));

export const listState = ({ name, ...settings }: ListSettings & Pick<AccessList, 'name'>) => ({ name, ...settingsJson(settings) });

const textFault = (text: string, { longest, format }: { readonly longest: number; readonly format?: 'repeat' }): string | null =>
  format === 'repeat' && repeatOf(text) === undefined
    ? REPEAT_RULE
    : [...text].length > longest
      ? `can have at most ${longest} characters`
      : null;

export const settingFaults = (settings: ListSettings): [field: string, fault: string][] =>
  SETTING_NAMES.flatMap((name) => {
    const [setting, value] = [LIST_SETTINGS[name], settings[name]];
    const fault = 'longest' in setting && typeof value === 'string' ? textFault(value, setting) : null;
    return fault === null ? [] : [[setting.field, fault]];
  });

export type ListPatch = Partial<ListSettings>;

/** A named list of access rules with its own feed (spec 2.6). `revision` changes with its rules, settings and name. */
export interface AccessList extends ListSettings {
  readonly id: string;
  readonly workspaceId: string;
  readonly name: string;
  readonly isDefault: boolean;
  /** The source that manages its rules (SPEC D23.2). */
  readonly sourceId: string | null;
  readonly revision: number;
}

export type SavedList = Omit<AccessList, 'workspaceId' | 'revision' | 'sourceId'>;

const NAMED_IDS = 20;

export function idsText(lists: readonly { readonly id: string }[]): string {
  const ids = lists.slice(0, NAMED_IDS).map(({ id }) => id);
  const rest = lists.length - ids.length;
  return ids.join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}
