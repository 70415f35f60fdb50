/** What a hostile proxy gets three clients of signed feeds to load (SPEC D63). */
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import type { Figure } from '../../bench/support/figures.ts';
import { commandJson, newKey, newTenant } from '../support/command.ts';
import { attacked, CLIENTS, hostileProxy, writeSigners } from '../support/hostile-proxy.ts';
import { getFeed, postSignals } from '../support/http.ts';
import { eventually } from '../support/weir.ts';
import { on, type Settings } from './checks.ts';

/** Attacks on each client, 10,000 in all: weir-fetch starts a dozen programs each time. */
const TIMES: Readonly<Record<string, number>> = { 'weir-fetch': 1000, 'weir-follow': 4500, source: 4500 };

export function signedFeeds(given: Settings): Promise<Figure[]> {
  const settings = { ...given, RATE_LIMIT_FEEDS: '0', FEED_REBUILD_SECONDS: '0', SECRETS_KEY: Buffer.alloc(32, 7).toString('base64') };
  return on(settings, async ({ url }) => {
    const { workspaceId, key: writer } = await newTenant(settings, { organization: 'default', workspace: 'signed' });
    const inWorkspace = ['--workspace', workspaceId];
    const { allowed_signer: signer } = await commandJson<{ allowed_signer: string }>(['signing-key', 'add', ...inWorkspace], settings);
    const keys: string[] = [];
    for (const name of ['edge', 'other']) {
      await commandJson(['list', 'create', name, ...inWorkspace], settings);
      keys.push(await newKey(settings, workspaceId, '--permission', 'feed:read', '--list', name));
    }
    const [key, other] = keys as [string, string];
    const read = async (list: string) => (await getFeed(url, list === 'edge' ? key : other, `/${list}?format=plain&family=both`)).text;
    const block = async (ip: string, list: string) => {
      await postSignals(url, writer, [{ type: 'access_rules', action: 'block', ip }], `/v1/signal?list=${list}`);
      await eventually(async () => {
        if (!(await read(list)).includes(ip)) throw new Error('it has not landed');
      });
    };
    await block('192.0.2.1', 'edge');
    await block('198.51.100.1', 'other');
    await using open = new AsyncDisposableStack();
    const proxy = open.use(await hostileProxy(url, other, 1));
    const folder = given.DATA_DIR!;
    const signers = join(folder, 'allowed');
    writeSigners(signers, [signer]);
    const started = Object.entries(CLIENTS).map(async ([name, start]) => {
      const client = open.use(await start({ url: proxy.url, key, feed: 'edge', signers, folder: mkdtempSync(join(folder, `${name}-`)) }));
      if (!(await client.fetch())) throw new Error(`${name} loads nothing`);
      return { name, client };
    });
    const clients = await Promise.all(started);
    await block('192.0.2.2', 'edge');
    const good = await read('edge');
    const figures: Figure[] = [];
    for (const { name, client } of clients) {
      await client.fetch();
      const times = TIMES[name]!;
      const { refused, wrong } = await attacked(client, proxy, good, times);
      figures.push(
        { what: `${times} attacks on signed feeds, ${name}: wrong content loaded`, figure: wrong, limit: 0 },
        { what: `${times} attacks on signed feeds, ${name}: refused, share`, figure: refused / times, limit: 0.8, least: true },
      );
    }
    return figures;
  });
}
