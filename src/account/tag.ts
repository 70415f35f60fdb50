import { createHash } from 'node:crypto';

/** Entity tag of an editable state, with quotes: equal states have equal tags (SPEC D15.9). */
export const stateTag = (state: object): string =>
  `"${createHash('sha256').update(JSON.stringify(state)).digest('base64url').slice(0, 22)}"`;
