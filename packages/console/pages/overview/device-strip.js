import { html } from 'htm/preact';
import { allPages, ask, manage } from '../../api.js';
import { useLiveWork } from '../../data.js';
import { ago, count } from '../../format.js';
import { keyName } from '../../names.js';
import { link } from '../../router.js';
import { Card } from '../../ui/card.js';
import { Loaded } from '../../ui/states.js';
import { refusedText } from '../clients/refused.js';
import { behindOf, isSilent } from '../devices/device.js';

/** Dots. */
const MOST = 400;

/** In the order of urgency. @type {readonly { state: string, label: string, is: (device: Expected) => boolean }[]} */
const STATES = [
  { state: 'silent', label: 'silent', is: (device) => isDevice(device) && isSilent(device) },
  { state: 'refused', label: 'refused', is: (device) => isDevice(device) && device.refusals.length > 0 },
  { state: 'behind', label: 'behind', is: (device) => isDevice(device) && (behindOf(device) ?? 0) > 0 },
  { state: 'never', label: 'never seen', is: (device) => !isDevice(device) },
  { state: 'current', label: 'current', is: () => true },
];

/** A device, or a key that no device has used. @typedef {Device | { id: string, key_id: string, key_name: string | null }} Expected */
/** @param {Expected} device @returns {device is Device} */
const isDevice = (device) => 'documents' in device;
const groupOf = (/** @type {Expected} */ device) => STATES.findIndex(({ is }) => is(device));

/** @param {Expected} device */
function textOf(device) {
  if (!isDevice(device)) return `${keyName(device)}: its key was never used`;
  const { label, state } = STATES[groupOf(device)];
  const word = state === 'refused' ? refusedText(device.refusals[0].status) : label;
  return `${keyName(device)}, ${device.address}: ${word}, last fetch ${ago(Date.parse(device.last_pull), Date.now())}`;
}

/** @returns {Promise<Expected[]>} */
async function readStrip() {
  const [devices, expected] = await Promise.all([allPages('/devices', 'devices', {}, 2000), ask(manage('/devices/expected'))]);
  return [...devices, ...expected.body.devices.map((key) => ({ ...key, id: key.key_id }))];
}

/** A dot for each device, and for each that never came (SPEC D52.8). */
export function DeviceStrip() {
  const live = useLiveWork('device strip', readStrip, { every: 60_000 });
  return html`
    <${Card} title="Devices" actions=${html`<a class="small" href=${link('/devices')}>All devices</a>`}>
      <${Loaded} live=${live}>${(/** @type {Expected[]} */ devices) => {
        if (devices.length === 0)
          return html`<p class="soft">No device has fetched a feed yet. Set one up under <a href=${link('/feeds')}>Feeds</a>.</p>`;
        const sorted = devices.toSorted((a, b) => groupOf(a) - groupOf(b));
        const groups = STATES.map(({ state, label }, i) => ({ state, label, size: devices.filter((each) => groupOf(each) === i).length }));
        return html`
          <p class="dots" aria-hidden="true">
            ${sorted.slice(0, MOST).map((device) => html`<a key=${device.id} tabindex="-1" class=${STATES[groupOf(device)].state} title=${textOf(device)} href=${addressOf(device)}></a>`)}
          </p>
          <p class="plot-keys dots">
            ${groups.map(({ state, label, size }) => size > 0 && html`<a key=${state} href=${link('/devices')}><i class=${state}></i>${count(size)} ${label}</a>`)}
          </p>
          ${sorted.length > MOST && html`<p class="small soft">The first ${count(MOST)} of ${count(sorted.length)}.</p>`}
        `;
      }}<//>
    <//>
  `;
}

/** @param {Expected} device */
const addressOf = (device) => (isDevice(device) ? `${link('/devices')}?${new URLSearchParams({ id: device.id })}` : link('/devices'));
