import { WeirError } from '../errors.ts';
import type { AccessList } from './list.ts';

/** SPEC D23.2. */
export const managedBySource = (name: string): string =>
  `the list "${name}" is managed by the source "${name}" and cannot be changed otherwise. To allow or block an address, use another list; to stop refreshes: weir source pause ${JSON.stringify(name)}`;

/** SPEC D23.3. */
export const goesWithSource = (name: string): string =>
  `the list "${name}" belongs to the source "${name}" and is deleted with it: weir source delete ${JSON.stringify(name)}`;

/** Throws REFUSED if another source or no source asks. */
export function requireOwnList({ name, sourceId }: Pick<AccessList, 'name' | 'sourceId'>, asks?: string): void {
  if (sourceId !== null && sourceId !== asks) throw new WeirError('REFUSED', managedBySource(name));
}
