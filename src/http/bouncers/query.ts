/** Queries of bouncers (SPEC D14.8, D14.9). Unknown parameters are ignored unless they look like misspelt ones. */

import { createHash } from 'node:crypto';
import type { Network } from '@weir/network/network.ts';
import { parseNetwork } from '@weir/network/parse.ts';
import { type DecisionFilter, type DecisionMark, readVersion, SCOPES, type Scope } from '../../decisions/decisions.ts';
import type { HttpFault } from '../errors.ts';
import { misnamed } from '../feeds/parameters.ts';

export interface StreamQuery {
  readonly startup: boolean;
  /** Seconds; undefined: answer at once. */
  readonly wait: number | undefined;
  /** null: none; undefined: the client does not name versions. */
  readonly since: DecisionMark | null | undefined;
  /** Whether the answer is signed (SPEC D63.6). */
  readonly isSigned: boolean;
  readonly filter: DecisionFilter;
  /** As a short text for comparison; stored per bouncer. */
  readonly filtered: string;
}

/** All (`network` null), or those that cover a network; `isEmpty`: none can match. */
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
const OF_STREAM = [...FILTERS, 'startup', 'wait', 'since', 'signature'];
/** s */
export const LONGEST_WAIT = 60;
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
  const seconds = given.get('wait');
  const wait = seconds === null ? undefined : /^\d{1,2}$/.test(seconds) ? Number(seconds) : 0;
  if (wait === 0 || wait! > LONGEST_WAIT) {
    return { status: 400, message: `wait must be a number of seconds from 1 to ${LONGEST_WAIT}, not "${seconds!.slice(0, 100)}"` };
  }
  const signature = given.get('signature');
  if (signature !== null && signature !== 'ssh') return { status: 400, message: `signature must be ssh, not "${signature.slice(0, 100)}"` };
  const isSigned = signature !== null;
  if (isSigned && FILTERS.some((name) => words(given.get(name)).length > 0))
    return { status: 400, message: 'signature and filters exclude each other' };
  const version = given.get('since');
  const since = version === null ? undefined : readVersion(version);
  const text = JSON.stringify(filter);
  const filtered = text.length <= 100 ? text : createHash('sha256').update(text).digest('base64');
  return { startup: /^(true|t|1)$/i.test(given.get('startup') ?? ''), wait, since, isSigned, filter, filtered };
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
