import type { Command } from 'commander';
import { nameFault } from '../account/name.ts';
import { WeirError } from '../errors.ts';
import { isCountry } from '../geo/iso3166.ts';
import type { Target } from '../rule.ts';
import { targetNamed } from '../signal/target.ts';
import { type DurationUnit, readDuration } from '../text/duration.ts';

export const noOptions = (command: Command): Command => command;

export const inWorkspace = (command: Command): Command =>
  command.option('--workspace <workspace>', 'id or unique name of the workspace; else WEIR_WORKSPACE, or the only one there is');

/** By id or unique name. */
export function pick<T extends { readonly id: string; readonly name: string }>(items: readonly T[], text: string, what: string): T {
  const byId = items.find((item) => item.id === text);
  if (byId !== undefined) return byId;
  const named = items.filter((item) => item.name === text);
  if (named.length === 1) return named[0];
  if (named.length === 0) throw new WeirError('USAGE', `there is no ${what} "${text}"`);
  throw new WeirError('USAGE', `${named.length} ${what}s are called "${text}"; use the id: ${named.map((item) => item.id).join(', ')}`);
}

export function wholeNumber(option: string, least: number, most: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (!/^\d{1,12}$/.test(text) || number < least || number > most) {
      throw new WeirError('USAGE', `${option} must be a whole number from ${least} to ${most}, not "${text}"`);
    }
    return number;
  };
}

export function oneOf<T extends string>(option: string, allowed: readonly T[]): (text: string) => T {
  return (text) => {
    const found = allowed.find((word) => word === text);
    if (found === undefined) throw new WeirError('USAGE', `${option} must be one of: ${allowed.join(', ')}`);
    return found;
  };
}

/** An address, a network, an ASN such as `AS64500`, or a country such as `NL`. */
export function targetOf(text: string): Target {
  const target = targetNamed(text, isCountry);
  if (typeof target === 'string') throw new WeirError('USAGE', `"${text}" ${target}`);
  return target;
}

export function readName(text: string): string {
  const fault = nameFault(text);
  if (fault !== null) throw new WeirError('USAGE', fault);
  return text;
}

/** A whole number in `unit`. */
export function duration(option: string, least = 0, most = Number.MAX_SAFE_INTEGER, unit: DurationUnit = 's'): (text: string) => number {
  return (text) => {
    const number = readDuration(text, unit) ?? Number.NaN;
    const bounds = most === Number.MAX_SAFE_INTEGER ? 'a number of seconds' : `a whole number from ${least} to ${most}, not "${text}"`;
    if (!Number.isInteger(number) || number < least || number > most)
      throw new WeirError('USAGE', `${option} must be ${bounds}, or one with a unit such as 15m, 12h, 7d`);
    return number;
  };
}
