import type { Operation } from './operation.ts';
import { LIST_OPERATIONS } from './operations/lists.ts';
import { WHO_OPERATIONS } from './operations/who.ts';

/** All operations of management. A row is all that there is to one: its route, checks, document and tests follow from it. */
export const OPERATIONS: readonly Operation[] = [...WHO_OPERATIONS, ...LIST_OPERATIONS];
