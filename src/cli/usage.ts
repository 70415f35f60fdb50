import { WeirError } from '../errors.ts';
/** The one item that `text` names, by id or by unique name. */
export function pick<T extends { readonly id: string; readonly name: string }>(items: readonly T[], text: string, what: string): T {
  const byId = items.find((item) => item.id === text);
  if (byId !== undefined) return byId;
  const named = items.filter((item) => item.name === text);
  if (named.length === 1) return named[0];
  if (named.length === 0) throw new WeirError('USAGE', `there is no ${what} "${text}"`);
  throw new WeirError('USAGE', `${named.length} ${what}s are called "${text}"; use the id: ${named.map((item) => item.id).join(', ')}`);
}

/** A whole number within bounds from an option. */
export function wholeNumber(option: string, least: number, most: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (!/^\d{1,12}$/.test(text) || number < least || number > most) {
      throw new WeirError('USAGE', `${option} must be a whole number from ${least} to ${most}, not "${text}"`);
    }
    return number;
  };
}

/** One of the allowed words from an option. */
export function oneOf<T extends string>(option: string, allowed: readonly T[]): (text: string) => T {
  return (text) => {
    const found = allowed.find((word) => word === text);
    if (found === undefined) throw new WeirError('USAGE', `${option} must be one of: ${allowed.join(', ')}`);
    return found;
  };
}

/** A name as organizations, workspaces and lists have it: 1 to 200 characters, no control characters. */
export function checkName(text: string): string {
  const length = [...text].length;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (length < 1 || length > 200 || /[\u0000-\u001f\u007f-\u009f]/.test(text)) {
    throw new WeirError('USAGE', 'a name has 1 to 200 characters and no control characters');
  }
  return text;
}
