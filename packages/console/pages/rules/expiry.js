import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { duration, isForGood } from '../../format.js';
import { SelectField } from '../../ui/field.js';

const HOUR = 3600;

const CHOICES = [
  { value: String(HOUR), label: '1 hour' },
  { value: String(24 * HOUR), label: '1 day' },
  { value: String(7 * 24 * HOUR), label: '7 days' },
  { value: String(30 * 24 * HOUR), label: '30 days' },
  { value: String(365 * 24 * HOUR), label: '1 year' },
];

/** @param {string | null} until */
export const secondsLeft = (until) => (until === null ? '' : String(Math.max(1, Math.ceil((Date.parse(until) - Date.now()) / 1000))));

/**
 * @param {{ value: string, onValue: (value: string) => void, usual: string, hint?: string }} props The value is a number of seconds;
 *   empty: what
 * the service does when nothing is said, which `usual` tells.
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
