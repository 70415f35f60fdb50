import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { duration, durations, isForGood } from '../../format.js';
import { SelectField } from '../../ui/field.js';

const CHOICES = durations('1h', '1d', '7d', '30d', '365d');

/** @param {string | null} until */
export const secondsLeft = (until) => (until === null ? '' : String(Math.max(1, Math.ceil((Date.parse(until) - Date.now()) / 1000))));

/**
 * `value`: seconds; empty: the service's default, named by `usual`.
 * @param {{ value: string, onValue: (value: string) => void, usual: string, hint?: string }} props
 */
export function ExpiryField({ value, onValue, usual, hint }) {
  const [first] = useState(value);
  const isOther = first !== '' && CHOICES.every((choice) => choice.value !== first);
  const asItIs = isOther
    ? [{ value: first, label: `Unchanged: ${isForGood(Number(first) * 1000) ? 'never' : duration(Number(first) * 1000)}` }]
    : [];
  const options = [...asItIs, { value: '', label: usual }, ...CHOICES];
  return html`<${SelectField} label="Expires after" value=${value} onValue=${onValue} options=${options} hint=${hint} />`;
}
