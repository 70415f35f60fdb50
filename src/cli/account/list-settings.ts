/** What is set of a list or a composed feed, at the command line. */
import type { Command } from 'commander';
import { descriptionFault, LIST_SETTINGS, type ListPatch, type ListSetting, SETTING_FIELDS, SETTING_NAMES } from '../../account/list.ts';
import { WeirError } from '../../errors.ts';
import { inWorkspace, oneOf, wholeNumber } from '../usage.ts';

/** Columns for people; MAX for max_entries: they are narrow. */
export const SETTING_HEADINGS: readonly string[] = [...SETTING_FIELDS.map((field) => field.split('_')[0].toUpperCase()), 'DESCRIPTION'];
export const settingCells = (row: Readonly<Record<string, unknown>>): unknown[] => [
  ...SETTING_FIELDS.map((field) => row[field]),
  row.description,
];

/** Anything but an empty text, which unsets, is read. Commander takes no null from a parser. */
const orUnset =
  <T>(read: (text: string) => T) =>
  (text: string): T | '' =>
    text === '' ? '' : read(text);

/** The options of every setting and of the description; an empty value unsets one. */
export function settingOptions(c: Command): Command {
  inWorkspace(c).option('--description <text>', 'shown in the header of feeds whose format has one', orUnset(readDescription));
  for (const setting of Object.values(LIST_SETTINGS)) {
    const option = `--${setting.field.replaceAll('_', '-')}`;
    c.option(`${option} <${setting.value}>`, setting.help, orUnset(settingReader(option, setting)));
  }
  return c;
}

function settingReader(option: string, setting: ListSetting): (text: string) => string | number {
  if ('least' in setting) return wholeNumber(option, setting.least, setting.most);
  const { words, aliases = {} } = setting;
  const read = oneOf(option, words);
  return (text) => read(Object.hasOwn(aliases, text) ? aliases[text] : text);
}

/** What the options set; commander names them as the settings are named. */
export function settingPatch(options: Record<string, never>): ListPatch {
  const given = ['description', ...SETTING_NAMES].filter((name) => options[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, options[name] === '' ? null : options[name]]));
}

function readDescription(text: string): string {
  const fault = descriptionFault(text);
  if (fault !== null) throw new WeirError('USAGE', `--description ${fault}`);
  return text;
}
