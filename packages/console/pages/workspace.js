import { html } from 'htm/preact';
import { ask, manage } from '../api.js';
import { useLiveWork } from '../data.js';
import { may } from '../session.js';
import { PageHead } from '../ui/page-head.js';
import { Loaded } from '../ui/states.js';
import { GuardRails } from './workspace/guard-rails.js';
import { Access, Webhooks } from './workspace/links.js';
import { Sample } from './workspace/sample.js';

/** @param {PageProps} props */
export function Page({ session }) {
  const live = useLiveWork('workspace', readWorkspace);
  return html`
    <${PageHead} title="Workspace">Guard rails, traffic sample, webhooks and access.<//>
    <${Loaded} live=${live}>${(/** @type {Tagged} */ workspace) => html`
      <${GuardRails} workspace=${workspace} session=${session} onDone=${live.refresh} />
      <${Sample} workspace=${workspace.body.name} session=${session} />
      <div class="cards">
        ${may(session, 'manage') && html`<${Webhooks} />`}
        <${Access} people=${workspace.body.people} session=${session} />
      </div>
    `}<//>
  `;
}

/** @returns {Promise<Tagged>} */
async function readWorkspace() {
  const { body, tag } = await ask(manage('/workspace'));
  return { body, tag };
}
