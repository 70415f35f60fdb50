import { html } from 'htm/preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { setQuery } from '../../router.js';
import { LEVELS } from '../../tables.js';
import { Button } from '../../ui/button.js';
import { TextField } from '../../ui/field.js';
import { FIELDS, matchOf, partsOf, readFilter, termsOf, writeFilter } from './filter-terms.js';

const REST = 300;

/** @param {URLSearchParams} query @param {boolean} isAccess @returns {Record<string, string | undefined>} */
export function conditionsOf(query, isAccess) {
  const fields = termsOf(isAccess).map(({ field }) => field);
  const given = Object.fromEntries(fields.map((field) => [field, query.get(field) ?? undefined]));
  return { ...given, ...(given.address !== undefined && { match: matchOf(given.address, query.get('match')) }) };
}

/** @param {Record<string, string | undefined>} conditions */
export const isNarrow = (conditions) => Object.values(conditions).some((value) => value !== undefined);

/**
 * One line of conditions, kept in the page's address.
 * @param {{ query: URLSearchParams, isAccess: boolean, actions: readonly string[], names: Names, faults: readonly string[], onFaulty: (isFaulty: boolean) => void }} props
 */
export function RuleFilter({ query, isAccess, actions, names, faults, onFaulty }) {
  const named = (/** @type {string} */ field) => {
    const value = query.get(field);
    const list = field === 'list' ? names.lists.find(({ id, name }) => id === value || name === value) : undefined;
    return list === undefined || names.lists.some((each) => each !== list && each.name === list.name) ? value : list.name;
  };
  const canonical = writeFilter(named, isAccess);
  const [text, setText] = useState(canonical);
  const id = useId();
  const read = readFilter(text, isAccess);
  const queryOf = (/** @type {string} */ line) => JSON.stringify(readFilter(line, isAccess).query);
  const isSame = queryOf(text) === queryOf(canonical);
  /** Later typing is not overwritten by the address of an earlier text. */
  const written = useRef(queryOf(canonical));
  useEffect(() => {
    if (queryOf(canonical) !== written.current) setText(canonical);
    written.current = queryOf(canonical);
  }, [canonical]);
  useEffect(() => {
    onFaulty(read.faults.length > 0);
    if (isSame || read.faults.length > 0) return;
    const timer = setTimeout(() => {
      written.current = queryOf(text);
      setQuery({ ...Object.fromEntries(FIELDS.map((field) => [field, undefined])), ...read.query });
    }, REST);
    return () => clearTimeout(timer);
  }, [text]);
  const parts = partsOf(text);
  const without = (/** @type {number} */ i) => parts.toSpliced(i, 1).join(' ');
  const wrong = [...read.faults, ...(isSame ? faults : [])];
  return html`
    <form class="filter" role="search" aria-label="Rules" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
      <${TextField} label="Filter" value=${text} onValue=${setText} list=${id} autocomplete="off" spellcheck=${false} maxlength="4000"
        placeholder=${isAccess ? 'list:scanners wider:/16 reason~masscan changed<1d, or an address' : 'action:block reason~scan changed<1d'}
        fault=${wrong.length === 0 ? undefined : wrong.join('; ')} />
      <datalist id=${id}>${suggestions(text, isAccess, actions, names).map(({ value, about }) => html`<option key=${value} value=${value}>${about}</option>`)}</datalist>
      ${
        parts.length > 0 &&
        html`<div class="chips" role="group" aria-label="Conditions">
          ${parts.map((part, i) => html`<${Button} key=${part} tiny icon="close" aria-label=${`Remove ${part}`} onClick=${() => setText(without(i))}><bdi>${part}</bdi><//>`)}
          <${Button} tiny kind="quiet" onClick=${() => setText('')}>Clear filters<//>
        </div>`
      }
    </form>
  `;
}

const MOST = 20;

/** Completions of the last part. @param {string} text @param {boolean} isAccess @param {readonly string[]} actions @param {Names} names */
function suggestions(text, isAccess, actions, names) {
  const last = /\s$/.test(text) ? '' : (partsOf(text).at(-1) ?? '');
  const before = text.slice(0, text.length - last.length);
  /** @type {Record<string, readonly string[]>} */
  const values = {
    'list:': names.lists.map(({ name }) => name),
    'action:': actions,
    'target:': ['ip', 'asn', 'country'],
    'confidence:': LEVELS,
    'severity:': LEVELS,
    'key:': names.keys,
    'changed<': ['1h', '1d', '7d'],
    'expires<': ['1h', '1d', '7d'],
    'wider:': ['/8', '/16', '/24'],
  };
  return termsOf(isAccess)
    .flatMap(({ word, about }) =>
      last.startsWith(word)
        ? (values[word] ?? []).map((value) => ({ value: `${word}${/\s/.test(value) ? `"${value}"` : value}`, about: '' }))
        : [{ value: word, about }],
    )
    .filter(({ value }) => value !== last && value.toLowerCase().startsWith(last.toLowerCase()))
    .slice(0, MOST)
    .map(({ value, about }) => ({ value: before + value, about }));
}
