/** Is a new geo file too small to be what its operator meant? */
import type { GeoKindData } from './data.ts';
import { KINDS } from './kind.ts';
import { sourcesLabel } from './sources.ts';

/** Why data must not take the place of those in use: they have under half of the rows, or of the countries or ASNs; else undefined. */
export function shrinkFault(inUse: GeoKindData, next: GeoKindData): string | undefined {
  const { called } = KINDS[next.kind];
  const counts = [
    { what: 'rows', before: inUse.rows, after: next.rows },
    { what: called, before: inUse.keys, after: next.keys },
  ];
  const odd = counts.find(({ before, after }) => after * 2 < before);
  if (odd === undefined) return undefined;
  return `${sourcesLabel(next)}: ${next.files[0]}: it has ${odd.after} ${odd.what}, under half of the ${odd.before} in use; when that is meant, run weir geo accept`;
}
