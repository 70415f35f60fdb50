/** A list that a source keeps: what is refused there, and what to do instead (SPEC D23.2, D23.3). */
import { WeirError } from '../errors.ts';
import type { AccessList } from './list.ts';

/** Why nobody but its source changes a list, and what to do instead (SPEC D23.2). */
export const managedBySource = (name: string): string =>
  `the list "${name}" is kept by the source "${name}", and nothing else changes it: to let something through, allow it in another list; to block more, use another list; to stop its refreshes: weir source pause ${JSON.stringify(name)}`;

/** Why the list of a source is not deleted by itself (SPEC D23.3). */
export const goesWithSource = (name: string): string =>
  `the list "${name}" is that of the source "${name}", and goes with it: weir source delete ${JSON.stringify(name)}`;

/** Throws REFUSED where a list is kept by a source, and who asks is not that. */
export function requireOwnList({ name, sourceId }: Pick<AccessList, 'name' | 'sourceId'>, asks?: string): void {
  if (sourceId !== null && sourceId !== asks) throw new WeirError('REFUSED', managedBySource(name));
}
