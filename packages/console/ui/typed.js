import { html } from 'htm/preact';
import { useEffect, useState } from 'preact/hooks';
import { setQuery } from '../router.js';
import { TextField } from './field.js';

const REST = 300;

/** @param {{ field: string, label: string, value: string, [attribute: string]: any }} props */
export function Typed({ field, label, value, ...rest }) {
  const [text, setText] = useState(value);
  useEffect(() => setText((before) => (before.trim() === value ? before : value)), [value]);
  useEffect(() => {
    const timer = setTimeout(() => setQuery({ [field]: text.trim() }), REST);
    return () => clearTimeout(timer);
  }, [text]);
  return html`<${TextField} label=${label} value=${text} onValue=${setText} autocomplete="off" spellcheck=${false} ...${rest} />`;
}
