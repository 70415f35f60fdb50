/** Statements of the console in six worlds, each compared with answers of the API or bytes of feeds. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { after, before, suite, test } from 'node:test';
import { startBrowser } from '../support/browser.ts';
import { commandJson, newKey } from '../support/command.ts';
import { type ConsolePage, consolePage } from '../support/console.ts';
import { temporaryFolder } from '../support/folder.ts';
import { ask, bearer, getFeed, postSignals, type Reply } from '../support/http.ts';
import { bare, listServer, status } from '../support/list-server.ts';
import { needs } from '../support/programs.ts';
import { eventually, KEY, startWeir, type Weir } from '../support/weir.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of the API, as a client without types reads them.
type Json = any;
/** A workspace with a key that may do everything. */
interface World {
  /** Of the workspace and its feed. */
  readonly name: string;
  readonly key: string;
  get(path: string): Promise<Json>;
  post(path: string, body: object): Promise<Json>;
  send(list: string, ...targets: string[]): Promise<void>;
  feed(name: string): Promise<Reply>;
  /** Adds a source, refreshed once. */
  source(name: string): Promise<string>;
}
const BLOCKED = '45.9.1.7';
/** Readings of a page until what it says counts as false. */
const READS = 40;

suite('D54.44 statements of the console', { skip: needs('chromium'), timeout: 300_000 }, () => {
  const folder = temporaryFolder({ after });
  const settings = { DATA_DIR: folder, BOOTSTRAP_API_KEY: KEY, SOURCE_NETWORKS: '127.0.0.1', FEED_REBUILD_SECONDS: '0' };
  let [weir, browser, page, server]: [Weir, Awaited<ReturnType<typeof startBrowser>>, ConsolePage, Awaited<ReturnType<typeof listServer>>] =
    [] as never;
  before(async () => {
    [weir, browser, server] = await Promise.all([startWeir({ ...settings, RATE_LIMIT_MANAGE: '0' }), startBrowser(), listServer()]);
    page = consolePage(await browser.page(), weir.url);
    await page.look(1440, 900, 'light');
  });
  after(async () => {
    await browser.close();
    await weir.kill('SIGTERM');
    await server[Symbol.asyncDispose]();
  });

  function worldOf(name: string, key: string): World {
    const call = async (path: string, body?: object) => {
      const request = body && { method: 'POST', body: JSON.stringify(body) };
      const { status: code, text } = await ask(weir.url, `/v1/manage${path}`, { headers: bearer(key), ...request });
      assert.ok(code < 300, `${path}: ${code} ${text}`);
      return text === '' ? undefined : JSON.parse(text);
    };
    // Whoever reads is a device: once, before pages are opened.
    const read = new Map<string, Promise<Reply>>();
    const entry = (ip: string) => ({ kind: 'access_rule', op: 'upsert', reason: 'scan', rule: { target: { ip }, action: 'block' } });
    return {
      ...{ name, key, get: call, post: call },
      feed(path) {
        const found = read.get(path) ?? getFeed(weir.url, key, path);
        read.set(path, found);
        return found;
      },
      async send(list, ...targets) {
        assert.equal((await postSignals(weir.url, key, targets.map(entry), `/v2/signal?list=${list}`)).status, 200);
      },
      async source(of) {
        const { id } = await call('/sources', { name: of, url: `${server.url}/${of}`, format: 'text' });
        await call(`/sources/${id}/refresh`, {});
        return id;
      },
    };
  }
  /** A key of its own for a firewall, by the feed's name. */
  const bound = async (world: World, name: string, to: object) =>
    (await world.post('/keys', { name, permissions: ['feed:read'], ...to })).key as string;
  const stream = (key: string, agent = 'crowdsec-firewall-bouncer/v0.0.31') =>
    ask(weir.url, '/v1/decisions/stream?startup=true', { headers: { 'x-api-key': key, 'user-agent': agent } });
  /** Pages read alerts and devices rarely: they are there before. */
  const alerted = (world: World, state: string) =>
    eventually(async () => assert.ok((await world.get('/status')).items.some((item: Json) => item.state === state)));
  const range = (n: number, from = 0) => Array.from({ length: n }, (_, i) => `45.9.1.${from + i}`);

  const WORLDS: Readonly<Record<string, (world: World) => Promise<void>>> = {
    async full(world) {
      await world.post('/lists', { name: 'edge' });
      await world.post('/feeds', { name: 'perimeter', all_lists: true });
      await world.send('default', ...range(20), '45.9.0.0/24');
      await world.send('edge', BLOCKED, '2001:db8:7::/48');
      const fetching = await bound(world, 'office', { feed: 'perimeter' });
      for (let n = 0; n < 2; n += 1) assert.equal((await getFeed(weir.url, fetching, '/perimeter')).status, 200);
      assert.equal(
        (await stream(await bound(world, 'gateway', { feed: 'perimeter' }), 'Crowdsec-Bouncer-Traefik-Plugin/1.4.2')).status,
        200,
      );
      await bound(world, 'unused', { feed: 'perimeter' });
      await eventually(async () => assert.equal((await world.get('/devices/expected')).devices.length, 1));
    },
    async empty(world) {
      for (const { key } of (await world.get('/status')).items)
        await world.post('/attention/snoozes', { key, reason: 'known', expires_in: 3600 });
    },
    async 'over the cap'(world) {
      await world.post('/lists', { name: 'tiny', max_entries: 3 });
      const key = await bound(world, 'branch', { list: 'tiny' });
      await world.send('tiny', BLOCKED, '45.9.3.1');
      assert.equal((await getFeed(weir.url, key, '/tiny')).status, 200);
      await world.send('tiny', ...[3, 5, 7, 9].map((n) => `45.9.4.${n}`));
      await eventually(async () => assert.equal((await getFeed(weir.url, key, '/tiny')).status, 413));
      await eventually(async () => assert.equal((await world.get('/devices')).devices[0].refusals.length, 1));
      await alerted(world, 'over_cap');
    },
    async 'refused bouncer'(world) {
      await world.post('/lists', { name: 'dmz', max_entries: 1 });
      const key = await bound(world, 'edge-router', { list: 'dmz' });
      await world.send('dmz', BLOCKED);
      assert.equal((await stream(key)).status, 200);
      await world.send('dmz', '45.9.3.1', '45.9.3.3');
      await eventually(async () => assert.equal((await stream(key)).status, 413));
      await eventually(async () => assert.equal((await world.get('/bouncers')).bouncers[0]?.refusal?.status, 413));
    },
    async 'undone refresh'(world) {
      server.set('/undone', bare(range(30).join('\n')));
      const id = await world.source('undone');
      await eventually(async () => assert.equal((await world.get(`/sources/${id}`)).entries, 30));
      const { batches } = await world.get('/batches');
      await world.post('/undo', { batches: [batches[0].id] });
      await world.send('default', BLOCKED);
    },
    async 'stopped source'(world) {
      server.set('/stopped', bare(range(30).join('\n')));
      const id = await world.source('stopped');
      await eventually(async () => assert.equal((await world.get(`/sources/${id}`)).entries, 30));
      server.set('/stopped', status(410));
      await world.post(`/sources/${id}/refresh`, {});
      await eventually(async () => assert.equal((await world.get(`/sources/${id}`)).state, 'stopped'));
      await alerted(world, 'stopped');
    },
  };

  const number = (value: number) => value.toLocaleString('en');
  const networks = ({ text }: Reply) => text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  /** Feeds by name, with what a client gets. */
  async function feedsOf(world: World): Promise<(readonly [string, Reply])[]> {
    const [{ lists }, { feeds }] = await Promise.all([world.get('/lists'), world.get('/feeds')]);
    const names = [...lists, ...feeds].map(({ name }: Json) => name as string);
    const asked = names.map(async (name) => [name, await world.feed(`/${name}`)] as const);
    return [[world.name, await world.feed('')], ...(await Promise.all(asked))];
  }
  const blocks = async (world: World) => (await feedsOf(world)).filter(([, reply]) => reply.status === 200 && networks(reply).some(covers));
  const covers = (network: string) => {
    const [address, bits = '32'] = network.split('/');
    const bitsOf = (ip: string) => ip.split('.').reduce((all, part) => all * 256 + Number(part), 0);
    return (
      address!.includes('.') &&
      Math.floor(bitsOf(BLOCKED) / 2 ** (32 - Number(bits))) === Math.floor(bitsOf(address!) / 2 ** (32 - Number(bits)))
    );
  };
  const lastHour = async (world: World, field: string) =>
    number((await world.get('/activity?minutes=60'))[field].reduce((all: number, each: number) => all + each, 0));
  const list = (values: readonly string[]) => values.toSorted().join();
  const named = (clients: readonly Json[]) => list(clients.map(({ key_name: name }) => name));
  const devices = async (world: World): Promise<Json[]> => (await world.get('/devices')).devices;
  const bouncers = async (world: World): Promise<Json[]> => (await world.get('/bouncers')).bouncers;
  const sources = async (world: World): Promise<Json[]> => (await world.get('/sources')).sources;
  const alerts = async (world: World): Promise<Json[]> => (await world.get('/status')).items.filter(({ snooze }: Json) => snooze === null);

  // Read in the page.
  const CELLS = `const cells = (label, name) => [...document.querySelectorAll('[role=region][aria-label="' + label + '"] tbody tr')].map((row) =>
    row.querySelector('th').innerText.trim() + ' ' + (row.querySelector('[data-label="' + name + '"]')?.innerText.split('\\n')[0].trim() ?? '')).sort().join();`;
  const FIGURE = `const figure = (label) => [...document.querySelectorAll('.figure')].find((each) => each.querySelector('dt').innerText === label)?.querySelector('dd').innerText ?? '';`;
  const GRID = `const rows = (label) => [...document.querySelectorAll('[role=grid][aria-label="' + label + '"] .long-row')].map((row) => [...row.children].map((cell) => cell.innerText));`;
  const MATCH = `const match = (pattern) => pattern.exec(document.querySelector('main').innerText.replace(/\\s+/g, ' '))?.slice(1).join() ?? '';`;

  /** Of each page: what it says, read there, and what is true. */
  type Statements = Readonly<Record<string, readonly [says: string, is: (world: World) => Promise<string>]>>;
  const PAGES: Readonly<Record<string, { readonly heading: string; readonly says: Statements }>> = {
    '/': {
      heading: 'Overview',
      says: {
        'alerts in the navigation': [
          `document.querySelector('.side-count')?.dataset.count ?? '0'`,
          async (w) => String((await alerts(w)).length),
        ],
        'alerts on the card': [
          `String(document.querySelectorAll('[aria-label="Needs attention"] li.attention').length)`,
          async (w) => String((await alerts(w)).length),
        ],
        'urgent alerts': [
          `String([...document.querySelectorAll('li.attention')].filter((each) => each.innerText.startsWith('Urgent')).length)`,
          async (w) => String((await alerts(w)).filter(({ urgent }) => urgent).length),
        ],
        'nothing needs attention': [
          `String(match(/(Nothing needs attention)/) !== '')`,
          async (w) => String((await alerts(w)).length === 0),
        ],
        'entries accepted': [`figure('Entries accepted')`, (w) => lastHour(w, 'accepted')],
        'entries applied': [`figure('Entries applied')`, (w) => lastHour(w, 'landed')],
        fetches: [`figure('Fetches')`, (w) => lastHour(w, 'pulls')],
        refused: [`figure('Refused') || '0'`, (w) => lastHour(w, 'refused')],
        'devices that never came': [
          `match(/(\\d+) never seen/) || '0'`,
          async (w) => String((await w.get('/devices/expected')).devices.length),
        ],
        'refused devices': [
          `match(/(\\d+) refused/) || '0'`,
          async (w) => String((await devices(w)).filter(({ refusals }) => refusals.length > 0).length),
        ],
      },
    },
    '/rules': {
      heading: 'Rules',
      says: {
        count: [`match(/\\b([\\d,]+) rules?\\b/) || '0'`, async (w) => number((await w.get('/rules/count?kind=access_rule')).rules)],
        rows: [
          `String(Math.min(20, rows('Rules').length))`,
          async (w) => String(Math.min(20, (await w.get('/rules?kind=access_rule')).rules.length)),
        ],
        newest: [
          `rows('Rules')[0]?.[1] ?? ''`,
          async (w) => (await w.get('/rules?kind=access_rule&sort=changed&descending=true')).rules[0]?.target ?? '',
        ],
      },
    },
    '/devices': {
      heading: 'Devices',
      says: {
        count: [`match(/(\\d+) devices?\\b(?! (?:has|have|that))/) || '0'`, async (w) => String((await devices(w)).length)],
        refused: [
          `match(/weir refuses requests of (\\d+)/) || '0'`,
          async (w) => String((await devices(w)).filter(({ refusals }) => refusals.length > 0).length),
        ],
        states: [
          `rows('Devices').map(([state, name]) => name + ' ' + state.toLowerCase()).sort().join()`,
          async (w) =>
            list(
              (await devices(w)).map(({ key_name: name, refusals }) => `${name} ${refusals[0] === undefined ? 'active' : 'not published'}`),
            ),
        ],
        'up to date': [
          `rows('Devices').filter((cells) => cells[6] === 'up to date').map((cells) => cells[1]).sort().join()`,
          async (w) => {
            const current = ({ refusals, documents }: Json) =>
              refusals.length === 0 && documents.every(({ behind_seconds: behind }: Json) => behind === 0);
            return named((await devices(w)).filter(current));
          },
        ],
        'never came': [
          `cells('Expected', 'Name').replace(/never seen /g, '')`,
          async (w) => named((await w.get('/devices/expected')).devices),
        ],
        none: [`String(match(/(No device has fetched a feed yet)/) !== '')`, async (w) => String((await devices(w)).length === 0)],
      },
    },
    '/bouncers': {
      heading: 'Bouncers',
      says: {
        count: [
          `match(/(\\d+) bouncers? (?!is|are|do)/) || String(rows('Bouncers').length)`,
          async (w) => String((await bouncers(w)).length),
        ],
        refused: [
          `match(/(\\d+) bouncers? (?:is|are) refused/) || '0'`,
          async (w) => String((await bouncers(w)).filter(({ refusal }) => refusal !== null).length),
        ],
        incomplete: [
          `match(/(\\d+) bouncers? do(?:es)? not enforce/) || '0'`,
          async (w) => String((await bouncers(w)).filter(({ cannot_enforce: gap }) => gap !== null).length),
        ],
      },
    },
    '/sources': {
      heading: 'Sources',
      says: {
        states: [`cells('Sources', 'State')`, async (w) => list((await sources(w)).map(({ name, state }) => `${name} ${state}`))],
        entries: [
          `cells('Sources', 'Entries')`,
          async (w) => list(await Promise.all((await sources(w)).map(async ({ name }) => `${name} ${number(await rulesOf(w, name))}`))),
        ],
        none: [`String(match(/(No sources yet)/) !== '')`, async (w) => String((await sources(w)).length === 0)],
      },
    },
    '/feeds': {
      heading: 'Feeds',
      says: {
        names: [`cells('Feeds', '').replaceAll(' ,', ',').trim()`, async (w) => list((await feedsOf(w)).map(([name]) => name))],
        entries: [`cells('Feeds', 'Entries')`, (w) => entriesOf(w)],
        'published or not': [
          `cells('Feeds', 'State').split(',').filter((each) => each.includes('not published')).join()`,
          async (w) => list((await feedsOf(w)).flatMap(([name, { status: code }]) => (code === 413 ? [`${name} not published`] : []))),
        ],
        'outdated sources': [
          `String(cells('Feeds', 'State').split(',').filter((each) => / source /.test(each)).length > 0)`,
          async (w) => String((await sources(w)).some(({ state }) => state !== 'ok')),
        ],
      },
    },
    [`/lookup?target=${BLOCKED}`]: {
      heading: 'Look up',
      says: {
        feeds: [`match(/is blocked on (\\d+|no) (?:published )?feed/).replace('no', '0')`, async (w) => String((await blocks(w)).length)],
        enforced: [
          `match(/enforced by (?:at least )?(\\d+) of (\\d+)/) || match(/(no device fetches it)/) && '0,0'`,
          async (w) => {
            const { enforced } = await w.get(`/lookup?target=${BLOCKED}&action=block&path=true`);
            return (await blocks(w)).length === 0 ? '' : `${enforced.by},${enforced.of}`;
          },
        ],
        'not published': [
          `match(/(\\d+) more feeds? contains? it but (?:is|are) not published/) || match(/on no published feed\\. (\\d+)/) || '0'`,
          async (w) =>
            String(
              (await w.get(`/lookup?target=${BLOCKED}&action=block`)).feeds.filter(
                ({ verdict, over_cap: isOver }: Json) => verdict !== 'out' && isOver,
              ).length,
            ),
        ],
      },
    },
    '/changes?kind=batches': {
      heading: 'Timeline',
      says: {
        count: [`match(/\\b(\\d+) batch(?:es)?\\./) || '0'`, async (w) => String((await w.get('/batches')).batches.length)],
        entries: [
          `rows('Changes').map((cells) => /([\\d,]+) entr/.exec(cells[3])?.[1] ?? '').join()`,
          async (w) =>
            (await w.get('/batches')).batches.map(({ what, entries }: Json) => (what === 'undone' ? '' : number(entries))).join(),
        ],
        undone: [
          `String(rows('Changes').filter((cells) => cells[3].includes('undone')).length)`,
          async (w) => String((await w.get('/batches')).batches.filter(({ undone_by: by }: Json) => by !== null).length),
        ],
      },
    },
    '/feeds/workspace': {
      heading: '',
      says: {
        entries: [`figure('Entries')`, async (w) => number(networks(await w.feed('')).length)],
        MD5: [`match(/\\b([0-9a-f]{32})\\b/)`, async (w) => hash('md5', (await w.feed('')).text)],
        'first lines': [
          `document.querySelector('[aria-label="First lines of the feed"]')?.innerText.trim().split('\\n').slice(0, 3).join() ?? ''`,
          async (w) =>
            networks(await w.feed(''))
              .slice(0, 3)
              .join(),
        ],
      },
    },
  };
  const rulesOf = async (world: World, list: string): Promise<number> =>
    (await world.get(`/rules/count?kind=access_rule&list=${list}`)).rules;
  /** By the bytes of each feed; one over its limit by its content. */
  async function entriesOf(world: World): Promise<string> {
    const counted = (await feedsOf(world)).map(async ([name, reply]) => {
      if (reply.status === 200) return `${name} ${number(networks(reply).length)}`;
      return `${name} ${number((await world.get(`/content?feed=${name}`)).entries)}`;
    });
    return list(await Promise.all(counted));
  }

  test('D54.44 a hundred statements of pages are what the API and the feeds say, in six worlds', async () => {
    const wrong: string[] = [];
    const told = new Map<string, string[]>();
    for (const [name, make] of Object.entries(WORLDS)) {
      const workspace = name.replaceAll(' ', '-');
      const { id } = await commandJson<{ id: string }>(['workspace', 'create', workspace, '--org', 'default'], settings);
      const world = worldOf(workspace, await newKey(settings, id, '--role', 'admin'));
      await make(world);
      if (name !== 'empty') {
        await feedsOf(world);
        await eventually(async () => assert.ok((await devices(world)).some(({ key_name: own }) => own.startsWith('weir_'))));
      }
      await page.open(`${weir.url}/console/`);
      await page.evaluate(
        `fetch('/console/session', { method: 'DELETE', headers: { 'X-Weir-Console': '1' } }).then(() => sessionStorage.clear())`,
      );
      await page.signIn(world.key);
      for (const [path, { heading, says }] of Object.entries(PAGES)) {
        const open = async () => {
          await page.evaluate(`history.pushState(null, '', '/console${path}'); dispatchEvent(new Event('weir-place'))`);
          await eventually(async () => assert.equal(await page.evaluate(`document.querySelector('h1')?.innerText`), heading || workspace));
          await eventually(async () => assert.doesNotMatch(await page.text(), /Loading…|Calculating…/));
        };
        for (let reads = 1, left = Object.entries(says); left.length > 0; reads += 1) {
          await open();
          const faults: string[] = [];
          for (const [what, [expression, is]] of left) {
            const said = await page.evaluate<string>(`(() => { ${CELLS} ${FIGURE} ${GRID} ${MATCH} return ${expression}; })()`);
            const statement = `${path}, ${what}`;
            const wanted = await is(world);
            if (said === wanted) told.set(statement, [...(told.get(statement) ?? []), said]);
            else faults.push(`${name}, ${statement}: ${said}, not ${wanted}`);
          }
          left = left.filter(([what]) => faults.some((fault) => fault.startsWith(`${name}, ${path}, ${what}:`)));
          // A page reads some things rarely: what is false was read again.
          if (left.length > 0 && reads === READS) wrong.push(...faults);
          if (reads === READS) break;
          if (left.length > 0) await page.evaluate(`history.pushState(null, '', '/console/geo'); dispatchEvent(new Event('weir-place'))`);
        }
      }
    }
    assert.deepEqual(wrong, []);
    assert.ok([...told.values()].flat().length >= 100);
    // A statement that is the same in every world compares nothing.
    assert.deepEqual(
      [...told].flatMap(([statement, said]) => (new Set(said).size === 1 ? [statement] : [])),
      [],
    );
  });
});
