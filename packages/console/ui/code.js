import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { Button } from './button.js';

/** @param {{ text: string }} props */
export function CopyButton({ text }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await copyText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 2000);
  };
  return html`<${Button} tiny icon=${isCopied ? 'check' : 'copy'} onClick=${copy}>${isCopied ? 'Copied' : 'Copy'}<//>`;
}

/** @param {{ text: string, label: string }} props */
export const Code = ({ text, label }) => html`
  <div class="code"><pre tabindex="0" aria-label=${label} role="region">${text}</pre><${CopyButton} text=${text} /></div>
`;

/** @param {{ text: string }} props */
export const SameWithCurl = ({ text }) => html`
  <details><summary>curl command</summary><${Code} text=${text} label="Command" /></details>
`;

/** navigator.clipboard exists only over TLS and on localhost. @param {string} text */
async function copyText(text) {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  (document.querySelector('dialog[open]') ?? document.body).append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
}
