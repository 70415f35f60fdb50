import { html } from 'htm/preact';
import { Button } from './button.js';

/**
 * A few choices as buttons; `values`: the chosen ones.
 * @param {{ label: string, options: readonly { value: string, label: any, disabled?: boolean }[], values: readonly string[],
 *   onValue: (value: string) => void }} props
 */
export const Chips = ({ label, options, values, onValue }) => html`
  <div class="chips" role="group" aria-label=${label}>
    <span class="small soft">${label}</span>
    ${options.map(
      ({ value, label: text, disabled }) =>
        html`<${Button} key=${value} tiny disabled=${disabled} aria-pressed=${values.includes(value)} onClick=${() => onValue(value)}>${text}<//>`,
    )}
  </div>
`;
