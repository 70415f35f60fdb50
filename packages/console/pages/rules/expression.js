import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { manage } from '../../api.js';
import { curlOf } from '../../curl.js';
import { Button } from '../../ui/button.js';
import { SameWithCurl } from '../../ui/code.js';
import { Dialog } from '../../ui/dialog.js';
import { SelectField, TextField } from '../../ui/field.js';
import { Notice } from '../../ui/states.js';
import { ExpressionInput } from './expression-input.js';
import { usePreview } from './preview.js';
import { RULE_TABS } from './tabs.js';

const CHECK = manage('/expressions/check');
const TEST = manage('/expressions/test');

/**
 * @param {{ kind: string, value: string, onValue: (value: string) => void, onVerdict?: (isValid: boolean) => void, [attribute: string]:
 *   any }} props
 */
export function ExpressionField({ kind, value, onValue, ...rest }) {
  const isGiven = value.trim() !== '';
  const { answer, error } = usePreview(CHECK, isGiven ? { kind, expression: value } : undefined);
  const [request, setRequest] = useState('');
  const isTested = answer?.valid === true && request.trim() !== '';
  const tested = usePreview(TEST, isTested ? { kind, expression: value, request } : undefined);
  return html`
    <${ExpressionInput} kind=${kind} value=${value} onValue=${onValue} ...${rest}
      aria-invalid=${answer?.valid === false ? 'true' : undefined} />
    <div aria-live="polite">
      ${error !== undefined && html`<${Notice} kind="bad">${error.message}<//>`}
      ${answer !== undefined && html`<${VerdictText} verdict=${answer} />`}
    </div>
    <${TextField} label="Test request" rows=${2} value=${request} onValue=${setRequest} fault=${tested.faultOf('request')}
      hint="A curl command, HAR entry, access log line, or JSON with fields by name." />
    <div aria-live="polite">
      ${tested.error !== undefined && tested.faultOf('request') === undefined && html`<${Notice} kind="bad">${tested.error.message}<//>`}
      ${tested.answer !== undefined && html`<${TestedText} tested=${tested.answer} />`}
    </div>
  `;
}

/** @param {{ tested: any & { lacking: string[], agent: any | null } }} props */
function TestedText({ tested }) {
  const { result, error, lacking, agent } = tested;
  const words = (/** @type {any} */ outcome) => (outcome.result === null ? `fails: ${outcome.error}` : `is ${outcome.result}`);
  const differs = agent !== null && (agent.result !== result || agent.error !== error);
  return html`
    <${Notice} kind=${result === true ? 'good' : 'warn'}>
      <p>For this request, the expression <strong class="text">${words(tested)}</strong>.</p>
      ${differs && html`<p class="small text">In the agent it ${words(/** @type {any} */ (agent))}.</p>`}
      ${lacking.length > 0 && html`<p class="small text">The request has no ${lacking.join(', ')}: the engine's default applies.</p>`}
    <//>
  `;
}

/** @param {{ verdict: any }} props */
function VerdictText({ verdict: { fault, fields, hints, phase } }) {
  if (fault !== null) {
    return html`
      <${Notice} kind="bad">
        <p><strong>Line ${fault.line}, column ${fault.column}:</strong> <span class="text">${fault.text}</span></p>
        <pre class="excerpt" tabindex="0" role="region" aria-label="Location of the error">${fault.excerpt}</pre>
      <//>
    `;
  }
  return html`
    <${Notice} kind="good">
      <p>The expression is valid${phase !== null && html`, for the ${phase} phase`}.</p>
      ${fields.length > 0 && html`<p class="small">It uses ${fields.map((field, i) => html`${i > 0 ? ', ' : ''}<code>${field}</code>`)}.</p>`}
      ${hints.map((hint) => html`<p class="small"><strong>Hint:</strong> <span class="text">${hint}</span></p>`)}
    <//>
  `;
}

const KINDS = RULE_TABS.filter(({ kind }) => kind !== 'access_rule').map(({ kind, label }) => ({ value: kind, label }));

/** @param {{ kind: string, onClose: () => void, onUse?: (kind: string, expression: string) => void }} props */
export function TryExpression({ kind: given, onClose, onUse }) {
  const [kind, setKind] = useState(given);
  const [expression, setExpression] = useState('');
  return html`
    <${Dialog}
      title="Test expression" wide onClose=${onClose}
      footer=${html`<${Button} onClick=${onClose}>Close<//>${onUse !== undefined && html`<${Button} kind="main" disabled=${expression.trim() === ''} onClick=${() => onUse(kind, expression)}>Create rule<//>`}`}
    >
      <${SelectField} label="Kind of rule" value=${kind} onValue=${setKind} options=${KINDS} />
      <${ExpressionField} kind=${kind} value=${expression}
        onValue=${setExpression} autofocus hint="Checked as you type, like in the signal API." />
      <${SameWithCurl} text=${curlOf('POST', CHECK, { kind, expression })} />
    <//>
  `;
}
