import { html } from 'htm/preact';
import { useId } from 'preact/hooks';

/** @param {FieldProps & { id: string, children: any }} props */
const Field = ({ label, hint, fault, id, children }) => html`
  <div class="field">
    <label for=${id}>${label}</label>
    ${children}
    ${hint !== undefined && html`<p class="hint" id=${`${id}-hint`}>${hint}</p>`}
    ${fault !== undefined && html`<p class="fault" id=${`${id}-fault`} role="alert">${fault}</p>`}
  </div>
`;

/** @param {string} id @param {FieldProps} field */
const described = (id, { hint, fault }) => ({
  id,
  'aria-describedby': [hint !== undefined && `${id}-hint`, fault !== undefined && `${id}-fault`].filter(Boolean).join(' ') || undefined,
  'aria-invalid': fault !== undefined ? 'true' : undefined,
});

/** @param {FieldProps & { value: string, onValue: (value: string) => void, rows?: number, [attribute: string]: any }} props */
export function TextField({ label, hint, fault, value, onValue, rows, ...rest }) {
  const id = useId();
  const shared = {
    class: 'input',
    value,
    onInput: (event) => onValue(event.target.value),
    ...described(id, { label, hint, fault }),
    ...rest,
  };
  return html`
    <${Field} label=${label} hint=${hint} fault=${fault} id=${id}>
      ${rows === undefined ? html`<input type="text" ...${shared} />` : html`<textarea rows=${rows} spellcheck=${false} ...${shared}></textarea>`}
    <//>
  `;
}

/**
 * @param {FieldProps & { value: string, onValue: (value: string) => void, options: readonly { value: string, label: string }[],
 *   [attribute: string]: any }} props
 */
export function SelectField({ label, hint, fault, value, onValue, options, ...rest }) {
  const id = useId();
  return html`
    <${Field} label=${label} hint=${hint} fault=${fault} id=${id}>
      <select class="input" onChange=${(event) => onValue(event.target.value)} ...${described(id, { label, hint, fault })} ...${rest}>
        ${options.map((each) => (typeof each === 'string' ? { value: each, label: each } : each)).map((option) => html`<option key=${option.value} value=${option.value} selected=${option.value === value}>${option.label}</option>`)}
      </select>
    <//>
  `;
}

/** @param {{ label: any, checked: boolean, onValue: (checked: boolean) => void, [attribute: string]: any }} props */
export const CheckField = ({ label, checked, onValue, ...rest }) => html`
  <label class="check">
    <input type="checkbox" checked=${checked} onChange=${(event) => onValue(event.target.checked)} ...${rest} /><span>${label}</span>
  </label>
`;

/**
 * @param {{ label: string, hint?: any, options: readonly { value: string, label: string }[], values: readonly string[], onValues: (values:
 *   string[]) => void }} props
 */
export const CheckList = ({ label, hint, options, values, onValues }) => html`
  <fieldset class="field">
    <legend>${label}</legend>
    ${options.map(
      ({ value, label: text }) => html`
        <${CheckField}
          key=${value} label=${html`<bdi>${text}</bdi>`} checked=${values.includes(value)}
          onValue=${(on) => onValues(on ? [...values, value] : values.filter((each) => each !== value))}
        />
      `,
    )}
    ${hint !== undefined && html`<p class="hint">${hint}</p>`}
  </fieldset>
`;
