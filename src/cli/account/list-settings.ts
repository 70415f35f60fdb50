/** What is set of a list or a composed feed, at the command line. */
import type { Command } from 'commander';
import { LIST_SETTINGS, type ListPatch, type ListSetting, textFault } from '../../account/list.ts';
import { TARGETS } from '../../account/target.ts';
import { WeirError } from '../../errors.ts';
import { DEFAULT_ENTRY_LIMIT } from '../../feed/variant.ts';
import { inWorkspace, oneOf, wholeNumber } from '../usage.ts';

type Settings<K extends string = string> = Readonly<Record<K, ListSetting>>;

/** The fields in the order of columns: texts, which may be long, last. */
const isText = (setting: ListSetting) => 'longest' in setting;
const COLUMNS = Object.values(LIST_SETTINGS)
  .toSorted((a, b) => Number(isText(a)) - Number(isText(b)))
  .map(({ field }) => field);

/** Columns for people; MAX for max_entries: they are narrow. */
export const SETTING_HEADINGS: readonly string[] = COLUMNS.map((field) => field.split('_')[0].toUpperCase());
export const settingCells = (row: Readonly<Record<string, unknown>>): unknown[] => COLUMNS.map((field) => row[field]);

/** Anything but an empty text, which unsets, is read. Commander takes no null from a parser. */
const orUnset =
  <T>(read: (text: string) => T) =>
  (text: string): T | '' =>
    text === '' ? '' : read(text);

/** The options of every setting; an empty value unsets one. */
export function settingOptions(c: Command, settings: Settings = LIST_SETTINGS): Command {
  inWorkspace(c);
  for (const setting of Object.values(settings)) {
    const option = `--${setting.field.replaceAll('_', '-')}`;
    c.option(`${option} <${setting.value}>`, setting.help, orUnset(settingReader(option, setting)));
  }
  return c;
}

function settingReader(option: string, setting: ListSetting): (text: string) => string | number {
  if ('longest' in setting) return textReader(option, setting.longest);
  if ('least' in setting) return wholeNumber(option, setting.least, setting.most);
  const { words, aliases = {} } = setting;
  const read = oneOf(option, words);
  return (text) => read(Object.hasOwn(aliases, text) ? aliases[text] : text);
}

/** What to ask for where the maker of the device tells no number, as the end of a sentence (SPEC D25.2). */
export function targetSentence(row: Readonly<Record<string, unknown>>): string {
  const target = TARGETS[String(row.target)];
  if (target === undefined || target.maxEntries !== null || row.max_entries !== null) return '';
  return `\n${target.title}: ${target.source}. Until --max-entries is set its cap is ${DEFAULT_ENTRY_LIMIT} entries`;
}

/** What the options set; commander names them as the settings are named. */
export function settingPatch(options: Readonly<Record<string, unknown>>, settings: Settings = LIST_SETTINGS): ListPatch {
  const given = Object.keys(settings).filter((name) => options[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, options[name] === '' ? null : options[name]]));
}

const textReader =
  (option: string, longest: number) =>
  (text: string): string => {
    const fault = textFault(text, longest);
    if (fault !== null) throw new WeirError('USAGE', `${option} ${fault}`);
    return text;
  };
