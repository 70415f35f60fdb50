import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { manage } from '../../api.js';
import { counted } from '../../format.js';
import { Button } from '../../ui/button.js';
import { Confirm } from '../../ui/dialog.js';
import { PATHS } from '../feeds/read-feeds.js';
import { extended } from './path-model.js';
import { RELATIONS } from './words.js';

const WHEN = { unblock: 'Unblocking this address', never: 'A never-block rule', extend: 'Extending' };

/**
 * @param {{ answer: LookupAnswer, outlook: Outlook, stays: Staying[], mayChange: boolean, maySet: boolean,
 * onOpen: (open: any) => void, onDone: () => void }} props
 */
export function Stays({ answer, outlook, stays, mayChange, maySet, onOpen, onDone }) {
  const [cutting, setCutting] = useState(/** @type {Staying | undefined} */ (undefined));
  const had = answer.feeds.filter(({ verdict }) => verdict !== 'out').length;
  if (outlook === 'extend')
    return html`<p class="path-then" role="status">Extend changes the expiry of ${extended(answer).map(({ target, list_name: list }, i) => html`${i > 0 && ', '}<bdi class="mono">${target}</bdi> in <bdi>${list}</bdi>`)} and nothing else.</p>`;
  const cleared = had - stays.length;
  const rules = [...new Map(stays.flatMap(({ because }) => because).map((rule) => [rule.id, rule])).values()];
  return html`
    <div class="path-then stack" role="status">
      <p>${WHEN[outlook]} ${cleared === 0 ? 'alone changes nothing' : `takes it out of ${counted(cleared, 'feed')}`}${stays.length > 0 && `: ${counted(stays.length, 'feed still blocks', 'feeds still block')} it`}.</p>
      ${
        outlook === 'unblock' &&
        rules.map(
          (
            rule,
          ) => html`<p key=${rule.id} class="row"><span><bdi class="mono">${rule.target}</bdi>, ${RELATIONS[rule.relation]}, is blocked in <bdi>${rule.list_name}</bdi>${rule.source && html` by the source <bdi>${rule.source.name}</bdi>`}.</span>
            ${mayChange && (rule.source ? html`<${Button} tiny onClick=${() => onOpen({ form: 'allow' })}>Allow ${answer.target}<//>` : html`<${Button} tiny onClick=${() => onOpen({ form: 'unblock', value: rule.target })}>Unblock ${rule.target} too<//>`)}</p>`,
        )
      }
      ${
        outlook === 'never' &&
        stays.map(
          (
            each,
          ) => html`<p key=${each.feed.id} class="row"><span><bdi>${each.feed.name}</bdi> does not subtract never-block rules${each.subtract === null ? ', and that alone would not help' : ''}.</span>
            ${maySet && each.subtract !== null && html`<${Button} tiny onClick=${() => setCutting(each)}>Subtract them from ${each.feed.name}<//>`}</p>`,
        )
      }
      ${cutting !== undefined && html`<${CutOut} staying=${cutting} onClose=${() => setCutting(undefined)} onDone=${onDone} />`}
    </div>
  `;
}

/** @param {{ staying: Staying, onClose: () => void, onDone: () => void }} props */
function CutOut({ staying: { feed, subtract }, onClose, onDone }) {
  const path = feed.kind === 'workspace' ? '/workspace' : `${PATHS[feed.kind]}/${feed.id}`;
  const request = { address: manage(path), method: 'PATCH', ifMatch: '*', body: { subtract_allow: subtract?.value } };
  return html`
    <${Confirm} title="Subtract never-block rules?" action="Subtract" request=${request} onDone=${onDone} onClose=${onClose}
      done=${() => html`<bdi>${feed.name}</bdi> now subtracts never-block rules.`}>
      <p><bdi>${feed.name}</bdi> will exclude every address in never-block rules of ${subtract?.value === 'workspace' ? 'the whole workspace' : 'its lists'}.</p>
    <//>
  `;
}
