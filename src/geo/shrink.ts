import type { GeoKindData } from './data.ts';
import { KINDS } from './kind.ts';
import { sourcesLabel } from './sources.ts';

/** The fault: under half of the rows, countries or ASNs in use. */
export function shrinkFault(inUse: GeoKindData, next: GeoKindData): string | undefined {
  const { plural } = KINDS[next.kind];
  const counts = [
    { what: 'rows', before: inUse.rows, after: next.rows },
    { what: plural, before: inUse.keys, after: next.keys },
  ];
  const odd = counts.find(({ before, after }) => after * 2 < before);
  if (odd === undefined) return undefined;
  return `${sourcesLabel(next)}: ${next.files[0]}: it has ${odd.after} ${odd.what}, under half of the ${odd.before} in use; if this is intended, run weir geo accept`;
}
