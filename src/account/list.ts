/** A list of access rules and what can be set of it. */
import { FORMAT_ALIASES, FORMAT_NAMES } from '../feed/formats/table.ts';
import { FAMILIES } from '../feed/variant.ts';
import { ACCESS_ACTIONS, type AccessAction, LEVELS, type Level } from '../rule.ts';
import { HOST_STYLES, type HostStyle, TARGET_NAMES, type TargetName } from './target.ts';

const SUBTRACT_ALLOW = ['on', 'workspace', 'off'] as const;
export type SubtractAllow = (typeof SUBTRACT_ALLOW)[number];

/** What bouncers are told that a decision is from: weir for all, or the list that it is of (SPEC D31.1). */
const ORIGINS = ['weir', 'lists'] as const;
export type Origins = (typeof ORIGINS)[number];

/** Feed settings that a list stores; null = the service's default (spec 2.6, 4.4.3). */
export interface ListSettings {
  readonly description: string | null;
  readonly format: string | null;
  readonly family: string | null;
  readonly action: AccessAction | null;
  readonly maxEntries: number | null;
  readonly confidence: Level | null;
  readonly severity: Level | null;
  /** Which never-block rules are cut out of the block feed: its own, those of all lists of the workspace, none (SPEC D7.6). */
  readonly subtractAllow: SubtractAllow | null;
  /** Bouncers get networks of up to so many addresses as single addresses, and wider ones not at all (SPEC D14.10); null: networks. */
  readonly singleAddresses: number | null;
  /** What enforces it: gives what is not set of format, family, host style and cap (SPEC D25.1). */
  readonly target: TargetName | null;
  /** How addresses are written in the formats of text (SPEC D25.3). */
  readonly hostStyle: HostStyle | null;
  /** Whether bouncers are told of which list each network is, so that they count by list (SPEC D31.1). */
  readonly origins: Origins | null;
}

/** What a value may be: a text of so many characters, one of some words (`aliases`: other words for them), or a whole number within bounds. */
type Range =
  | { readonly longest: number }
  | { readonly words: readonly string[]; readonly aliases?: Readonly<Record<string, string>> }
  | { readonly least: number; readonly most: number };

export type ListSetting = Range & {
  /** Its column in the store and its name in JSON; with dashes, its option on the command line. */
  readonly field: string;
  /** What help calls a value. */
  readonly value: string;
  /** What help says of it. */
  readonly help: string;
};

const level = { value: 'level', words: LEVELS, help: LEVELS.join(', ') };

/** All about each setting. A new one needs its row here, its member above and its column in a migration. */
export const LIST_SETTINGS: Readonly<Record<keyof ListSettings, ListSetting>> = {
  description: { field: 'description', value: 'text', longest: 2048, help: 'shown in the header of feeds whose format has one' },
  format: {
    field: 'format',
    value: 'format',
    words: FORMAT_NAMES,
    aliases: Object.fromEntries(FORMAT_ALIASES),
    help: FORMAT_NAMES.join(', '),
  },
  family: { field: 'family', value: 'family', words: FAMILIES, help: FAMILIES.join(', ') },
  action: { field: 'action', value: 'action', words: ACCESS_ACTIONS, help: ACCESS_ACTIONS.join(' or ') },
  maxEntries: { field: 'max_entries', value: 'count', least: 1, most: 4_000_000, help: 'entry cap of the feed' },
  confidence: { field: 'confidence', ...level },
  severity: { field: 'severity', ...level },
  subtractAllow: {
    field: 'subtract_allow',
    value: 'which',
    words: SUBTRACT_ALLOW,
    help: "never-block rules to cut out of the block feed: on (the list's own), workspace (those of all lists), off",
  },
  singleAddresses: {
    field: 'single_addresses',
    value: 'count',
    least: 1,
    most: 65_536,
    help: 'for bouncers that take single addresses only: the widest network that they get so, in addresses; wider ones are left out',
  },
  target: {
    field: 'target',
    value: 'device',
    words: TARGET_NAMES,
    help: 'what enforces the feed: gives what is not set here (weir target ls)',
  },
  hostStyle: {
    field: 'host_style',
    value: 'style',
    words: HOST_STYLES,
    help: 'bare: plain and commented have single addresses without a prefix length; wider networks are written address by address',
  },
  origins: {
    field: 'origins',
    value: 'what',
    words: ORIGINS,
    help: 'lists: bouncers are told of which list each network is, and count by list',
  },
};

export const SETTING_NAMES = Object.keys(LIST_SETTINGS) as readonly (keyof ListSettings)[];

/** The settings in a row of the store or an object of JSON, whose values were checked before. */
export const settingsOf = (row: Readonly<Record<string, unknown>>): ListSettings =>
  Object.fromEntries(SETTING_NAMES.map((name) => [name, row[LIST_SETTINGS[name].field] ?? null])) as unknown as ListSettings;

/** The settings of a list that stores none. */
export const NO_SETTINGS: ListSettings = settingsOf({});

/** The settings as JSON has them. */
export const settingsJson = (settings: ListSettings): Record<string, string | number | null> =>
  Object.fromEntries(SETTING_NAMES.map((name) => [LIST_SETTINGS[name].field, settings[name]]));

/** What can be edited of a list, as JSON has it. */
export const listState = ({ name, ...settings }: ListSettings & Pick<AccessList, 'name'>) => ({ name, ...settingsJson(settings) });

/** What is wrong with the text of a setting, or null. */
const textFault = (text: string, longest: number): string | null =>
  [...text].length > longest ? `has at most ${longest} characters` : null;

/** The fields whose texts are too long, each with what is wrong with it. */
export const settingFaults = (settings: ListSettings): [field: string, fault: string][] =>
  SETTING_NAMES.flatMap((name) => {
    const [setting, value] = [LIST_SETTINGS[name], settings[name]];
    const fault = 'longest' in setting && typeof value === 'string' ? textFault(value, setting.longest) : null;
    return fault === null ? [] : [[setting.field, fault]];
  });

/** A change of what is set of a list; what it does not name stays as it is. */
export type ListPatch = Partial<ListSettings>;

/** A named list of access rules, the source of one feed (spec 2.6). `revision` moves with its rules, settings and name. */
export interface AccessList extends ListSettings {
  readonly id: string;
  readonly workspaceId: string;
  readonly name: string;
  readonly isDefault: boolean;
  /** The source that alone changes its rules (SPEC D23.2); null: it has none. */
  readonly sourceId: string | null;
  readonly revision: number;
}

/** A list as a store holds it, for `weir export` and `weir import`. */
export type SavedList = Omit<AccessList, 'workspaceId' | 'revision' | 'sourceId'>;

/** Ids that are shown of lists that share a name. */
const SHOWN_IDS = 20;

/** The ids of lists that share a name, as their fault shows them. */
export function idsText(lists: readonly { readonly id: string }[]): string {
  const ids = lists.slice(0, SHOWN_IDS).map(({ id }) => id);
  const rest = lists.length - ids.length;
  return ids.join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}
