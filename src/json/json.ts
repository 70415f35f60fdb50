/** What a text says in JSON; undefined where it is none, or there is no text. */
export function parsedJson(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Levels of JSON that anything here has: beyond them a value is refused, for what recurses into it would run out of stack (SPEC D47.12). */
export const MOST_LEVELS = 64;
export const TOO_DEEP = `has more than ${MOST_LEVELS} levels`;

/** Whether JSON has more than MOST_LEVELS. Does not recurse. */
export function isTooDeep(value: unknown): boolean {
  let level = [value];
  for (let depth = 0; depth <= MOST_LEVELS && level.length > 0; depth += 1)
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? Object.values(each) : []));
  return level.length > 0;
}
