import { html } from 'htm/preact';
import { useEffect, useState } from 'preact/hooks';
import { allPages, ask, manage } from '../../api.js';
import { useLiveWork, useWork } from '../../data.js';
import { counted, dateTime } from '../../format.js';
import { helpAt } from '../../router.js';
import { Badge } from '../../ui/badge.js';
import { Code } from '../../ui/code.js';
import { Failed, Loading } from '../../ui/states.js';
import { Ago } from '../../ui/time.js';

/** ms */
const OFTEN = 2000;

/**
 * The line that enrols a Linux host, and whether the host has come (SPEC D52.9). Creates a code when it appears.
 * @param {{ name: string, feed: string, from?: string[], driver?: string }} props `feed`: id or name of a list or feed.
 */
export function LinuxHost({ name, feed, from = [], driver = 'nftables' }) {
  const [made, setMade] = useState(/** @type {any} */ (undefined));
  const { error, run } = useWork();
  const create = () =>
    run(async () => setMade((await ask(manage('/enrolments'), { method: 'POST', body: { name, feed, from, driver } })).body));
  useEffect(() => void create(), []);
  if (error !== undefined) return html`<${Failed} error=${error} retry=${create} />`;
  if (made === undefined) return html`<${Loading} />`;
  const line = made.command.replace(/ \| sh(?: -s --)?/, ' | sh -s -- --yes');
  return html`
    <div class="stack">
      <p>Run this as root on <bdi>${name}</bdi>. It is valid once, until ${dateTime(made.expires_at)}.</p>
      <${Code} text=${line} label="Line for the host" />
      <p class="small soft">It installs weir-follow with a key that can only read this feed. Without <code>--yes</code> it only prints what it would do.</p>
      <${Progress} name=${name} since=${made.created_at} />
      <details>
        <summary>By hand</summary>
        <p>Create a key for this feed, then install weir-follow: <a href=${helpAt('docs/follow.md')}>weir-follow</a></p>
        <${Code} text=${byHand(new URL(made.command.split("'")[1]).href.replace(/\/enroll\/.*$/, ''))} label="Lines for the host" />
      </details>
    </div>
  `;
}

/** @param {string} url */
const byHand = (url) => `url=${url}
curl -fsS -o /usr/local/sbin/weir-follow $url/integrations/weir-follow && chmod 755 /usr/local/sbin/weir-follow
curl -fsS -o /etc/systemd/system/weir-follow.service $url/integrations/weir-follow.service
install -d -m 0755 /etc/weir
(umask 077; printf 'WEIR_URL=%s\\nWEIR_API_KEY=%s\\n' $url KEY > /etc/weir/follow.env)
weir-follow self-test && systemctl daemon-reload && systemctl enable --now weir-follow`;

/** Waiting, first fetch, verified. @param {{ name: string, since: string }} props */
function Progress({ name, since }) {
  const { value: found } = useLiveWork(`host ${name} ${since}`, () => readHost(name, since), { every: OFTEN });
  const { expected, bouncer } = found ?? {};
  const verdict = bouncer?.enforced?.verdict;
  return html`
    <p role="status">
      ${
        verdict === 'same'
          ? html`<${Badge} kind="good">verified<//> Its packet filter has the ${counted(bouncer.enforced.count, 'network')} of the feed, read back <${Ago} at=${bouncer.enforced.at} />.`
          : verdict === 'different'
            ? html`<${Badge} kind="bad">different<//> Its packet filter differs from the feed.`
            : bouncer !== undefined
              ? html`<${Badge}>first fetch<//> It has fetched the feed. Waiting for its packet filter.`
              : expected !== undefined
                ? html`<${Badge}>installed<//> It has its key. Waiting for the first fetch.`
                : html`<${Badge}>waiting<//> Waiting for the host.`
      }
    </p>
  `;
}

/** @param {string} name @param {string} since */
async function readHost(name, since) {
  const [{ body }, bouncers] = await Promise.all([ask(manage('/devices/expected')), allPages('/bouncers', 'bouncers')]);
  return {
    expected: body.devices.find((each) => each.key_name === name && each.created_at >= since),
    bouncer: bouncers.find((each) => each.key_name === name && each.first_seen >= since),
  };
}
