/** Queries of bouncers (SPEC D14.8, D14.9). Unknown parameters are ignored unless they look like misspelt ones. */

import { createHash } from 'node:crypto';
import type { Network } from '@weir/network/network.ts';
import { parseNetwork } from '@weir/network/parse.ts';
import { type DecisionFilter, SCOPES, type Scope } from '../../decisions/decisions.ts';
import type { HttpFault } from '../errors.ts';
import { misnamed } from '../feeds/parameters.ts';

export interface StreamQuery {
  readonly startup: boolean;
  readonly filter: DecisionFilter;
  /** The filter as a short text for comparison; stored per bouncer. */
  readonly filtered: string;
}

/** A query of current decisions: all (`network` null), or those that cover a network; `isEmpty`: none can match. */
export interface CurrentQuery {
  readonly network: Network | null;
  readonly isEmpty: boolean;
  readonly filter: DecisionFilter;
}

/** Words per parameter, characters per word. Each word is searched in the names of all lists. */
const MOST_WORDS = 20;
const LONGEST_WORD = 100;

const words = (text: string | null): string[] => (text ?? '').split(',').filter((word) => word !== '');

const FILTERS = ['scopes', 'origins', 'scenarios_containing', 'scenarios_not_containing'];
const OF_STREAM = [...FILTERS, 'startup'];
const LOOKUP_FILTERS = [...FILTERS, 'ip', 'range', 'value', 'scope', 'type'];

function filterOf(query: URLSearchParams, names: readonly string[]): DecisionFilter | HttpFault {
  const twice = names.find((name) => new Set(query.getAll(name)).size > 1);
  if (twice !== undefined) return { status: 400, message: `${twice} is given more than once` };
  const unknown = misnamed(query, names);
  if (unknown !== undefined) return unknown;
  for (const name of FILTERS) {
    const given = words(query.get(name));
    if (given.length <= MOST_WORDS && given.every((word) => word.length <= LONGEST_WORD)) continue;
    return { status: 400, message: `${name} can have at most ${MOST_WORDS} words of ${LONGEST_WORD} characters` };
  }
  const scopes = words(query.get('scopes'));
  const origins = words(query.get('origins'));
  const isWanted = (scope: Scope) => scopes.length === 0 || scopes.some((word) => word.toLowerCase() === scope.toLowerCase());
  const containing = words(query.get('scenarios_containing'));
  return {
    scopes: SCOPES.filter(isWanted),
    origins: origins.length === 0 ? null : origins,
    containing: containing.length === 0 ? null : containing,
    without: words(query.get('scenarios_not_containing')),
  };
}

/** Without the question mark. */
export function readStreamQuery(query: string): StreamQuery | HttpFault {
  const given = new URLSearchParams(query);
  const filter = filterOf(given, OF_STREAM);
  if ('status' in filter) return filter;
  const text = JSON.stringify(filter);
  const filtered = text.length <= 100 ? text : createHash('sha256').update(text).digest('base64');
  return { startup: /^(true|t|1)$/i.test(given.get('startup') ?? ''), filter, filtered };
}

/** Without the question mark. */
export function readCurrentQuery(query: string): CurrentQuery | HttpFault {
  const given = new URLSearchParams(query);
  const filter = filterOf(given, LOOKUP_FILTERS);
  if ('status' in filter) return filter;
  const scope = given.get('scope')?.toLowerCase();
  const text = given.get('ip') ?? given.get('range') ?? given.get('value');
  const isEmpty = (given.get('type') ?? 'ban').toLowerCase() !== 'ban' || (scope !== undefined && !/^(ip|range)$/.test(scope));
  if (text === null || isEmpty) return { network: null, isEmpty, filter };
  const network = parseNetwork(text);
  return typeof network === 'string' ? { status: 400, message: `"${text.slice(0, 100)}" ${network}` } : { network, isEmpty, filter };
}
