/** Names of organizations, workspaces, lists, feeds, sources, keys and webhooks (SPEC D2.1, D47.10). */

/** Limit, code points. */
const MOST = 200;
/** Controls, bidirectional ones included, and invisible characters: equal looks must mean equal names. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;

export const NAME_RULE = `1 to ${MOST} characters, none of them a control character or invisible`;

export const nameFault = (name: string): string | null => faultOf(name, UNSEEN);

/** For an existing name: older versions allowed invisible characters. */
export const existingNameFault = (name: string): string | null => faultOf(name, /\p{Cc}/u);

function faultOf(name: string, refused: RegExp): string | null {
  const length = [...name].length;
  return length >= 1 && length <= MOST && !refused.test(name) ? null : `a name has ${NAME_RULE}`;
}
