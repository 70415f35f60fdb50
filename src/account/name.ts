/** Names of organizations, workspaces, lists and keys (SPEC D2.1). */

/** Characters (code points) that a name has at most. */
const MOST = 200;

/** What is wrong with a name, or null. */
export function nameFault(name: string): string | null {
  const length = [...name].length;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  const fits = length >= 1 && length <= MOST && !/[\u0000-\u001f\u007f-\u009f]/.test(name);
  return fits ? null : `a name has 1 to ${MOST} characters and no control characters`;
}
