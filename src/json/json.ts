/** undefined: invalid JSON, or no text. */
export function parsedJson(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Limit of nesting; deeper values are refused, because recursion would overflow the stack (SPEC D47.12). */
export const MOST_LEVELS = 64;
export const TOO_DEEP = `has more than ${MOST_LEVELS} levels`;

/** Not recursive. */
export function isTooDeep(value: unknown): boolean {
  let level = [value];
  for (let depth = 0; depth <= MOST_LEVELS && level.length > 0; depth += 1)
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? Object.values(each) : []));
  return level.length > 0;
}
