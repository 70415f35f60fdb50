import { createHash } from 'node:crypto';

/** Names a state of what can be edited, as an entity tag with its quotes: equal states have equal tags (SPEC D15.9). */
export const stateTag = (state: object): string =>
  `"${createHash('sha256').update(JSON.stringify(state)).digest('base64url').slice(0, 22)}"`;
