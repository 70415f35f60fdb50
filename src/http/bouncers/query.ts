/** What bouncers ask for (SPEC D14.8, D14.9). Parameters are as lenient as the clients are different: unknown ones are ignored. */

import type { Network } from '@weir/network/network.ts';
import { parseNetwork } from '@weir/network/parse.ts';
import { type DecisionFilter, ORIGIN, SCOPES, type Scope } from '../../bouncers/decisions.ts';
import type { HttpFault } from '../errors.ts';

/** A pull of what has changed. */
export interface StreamQuery {
  readonly startup: boolean;
  readonly filter: DecisionFilter;
  /** The filter as text, to compare it by. */
  readonly filtered: string;
}

/** A look-up of what holds now: of all decisions (`network` null), or of those for all of a network; `isEmpty` where no decision can match. */
export interface HeldQuery {
  readonly network: Network | null;
  readonly isEmpty: boolean;
  readonly filter: DecisionFilter;
}

const words = (text: string | null): string[] => (text ?? '').split(',').filter((word) => word !== '');

function filterOf(query: URLSearchParams): DecisionFilter {
  const scopes = words(query.get('scopes'));
  const origins = words(query.get('origins'));
  const isWanted = (scope: Scope) => scopes.length === 0 || scopes.some((word) => word.toLowerCase() === scope.toLowerCase());
  const containing = words(query.get('scenarios_containing'));
  return {
    scopes: origins.length > 0 && !origins.includes(ORIGIN) ? [] : SCOPES.filter(isWanted),
    containing: containing.length === 0 ? null : containing,
    without: words(query.get('scenarios_not_containing')),
  };
}

/** Reads the raw query of a stream (without its question mark). */
export function readStreamQuery(query: string): StreamQuery {
  let read = known.get(query);
  if (read === undefined) {
    const given = new URLSearchParams(query);
    const filter = filterOf(given);
    read = { startup: /^(true|t|1)$/i.test(given.get('startup') ?? ''), filter, filtered: JSON.stringify(filter) };
    if (known.size >= REMEMBERED) known.clear();
    known.set(query, read);
  }
  return read;
}

/** Queries that were read: bouncers send one of a few with every pull. */
const known = new Map<string, StreamQuery>();
const REMEMBERED = 100;

/** Reads the raw query of a look-up (without its question mark), or tells what is wrong with it. */
export function readHeldQuery(query: string): HeldQuery | HttpFault {
  const given = new URLSearchParams(query);
  const filter = filterOf(given);
  const scope = given.get('scope')?.toLowerCase();
  const text = given.get('ip') ?? given.get('range') ?? given.get('value');
  const isEmpty = (given.get('type') ?? 'ban').toLowerCase() !== 'ban' || (scope !== undefined && !/^(ip|range)$/.test(scope));
  if (text === null || isEmpty) return { network: null, isEmpty, filter };
  const network = parseNetwork(text);
  return typeof network === 'string' ? { status: 400, message: `"${text.slice(0, 100)}" ${network}` } : { network, isEmpty, filter };
}
