/** Names of organizations, workspaces, lists, feeds, sources, keys and webhooks (SPEC D2.1, D47.10). */

/** Characters (code points) that a name has at most. */
const MOST = 200;
/** Controls, also those of the direction of text, and what nobody sees: two names that look the same are the same. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;

export const NAME_RULE = `1 to ${MOST} characters, none of them a control character or invisible`;

/** What is wrong with the name of something new, or with a new name; null: nothing. */
export const nameFault = (name: string): string | null => faultOf(name, UNSEEN);

/** The same of a name that something has: older versions allowed what is invisible. */
export const keptNameFault = (name: string): string | null => faultOf(name, /\p{Cc}/u);

function faultOf(name: string, refused: RegExp): string | null {
  const length = [...name].length;
  return length >= 1 && length <= MOST && !refused.test(name) ? null : `a name has ${NAME_RULE}`;
}
