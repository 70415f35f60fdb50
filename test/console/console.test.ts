/** The console in a real browser: signing in, what sessions are, the overview, feeds. One server and one browser for all. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startBrowser } from '../support/browser.ts';
import { newKey } from '../support/command.ts';
import { type ConsolePage, consolePage } from '../support/console.ts';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { ask, bearer, getFeed, type Headers, postSignals } from '../support/http.ts';
import { needs } from '../support/programs.ts';
import { eventually, KEY, startWeir, type Weir } from '../support/weir.ts';

/** Bytes that the whole console may have on the way, compressed. */
const MOST_BYTES = 250_000;
/** Bytes of what the first paint waits for, compressed. */
const MOST_FIRST_BYTES = 10_000;
const HOSTILE = `<script>alert(1)</script>"'\u05d0`;

suite('D18 the console', { skip: needs('chromium'), timeout: 600_000 }, () => {
  let weir: Weir;
  let browser: Awaited<ReturnType<typeof startBrowser>>;
  let page: ConsolePage;
  let settings: Record<string, string>;

  const folder = temporaryFolder({ after });

  before(async () => {
    settings = { ...smallGeo(folder), DATA_DIR: folder };
    [weir, browser] = await Promise.all([
      startWeir({ ...settings, BOOTSTRAP_API_KEY: KEY, RATE_LIMIT_MANAGE: '0', FEED_REBUILD_SECONDS: '0' }),
      startBrowser(),
    ]);
    page = consolePage(await browser.page(), weir.url);
    await page.look(1280, 800, 'light');
  });
  after(async () => {
    await browser.close();
    await weir.kill('SIGTERM');
  });

  const PROOF = { 'x-weir-console': '1', 'sec-fetch-site': 'same-origin' };
  /** Signs in without a browser. */
  const signIn = (key: string, name: string, headers: Headers = PROOF) =>
    ask(weir.url, '/console/session', { method: 'POST', headers, body: JSON.stringify({ key, name }) });
  const cookieOf = (answer: { readonly headers: Readonly<Record<string, string | undefined>> }) =>
    answer.headers['set-cookie']!.split(';')[0]!;

  test('D18.1 / leads browsers to the console, whose files are kept for good and weigh little', async () => {
    const moved = await ask(weir.url, '/', { headers: { accept: 'text/html,*/*' } });
    assert.deepEqual([moved.status, moved.headers.location], [302, '/console/']);
    assert.equal((await ask(weir.url, '/')).status, 200);
    const shell = await ask(weir.url, '/console/rules/anything');
    const policy = shell.headers['content-security-policy']!;
    assert.match(policy, /^default-src 'none'; script-src 'self'( 'sha256-[\w+/=]+'){3}; style-src 'self';/);
    assert.doesNotMatch(policy, /unsafe|http/);
    assert.deepEqual([shell.headers['referrer-policy'], shell.headers['x-content-type-options']], ['no-referrer', 'nosniff']);
    const again = await ask(weir.url, '/console/', { headers: { 'if-none-match': shell.headers.etag } });
    assert.equal(again.status, 304);
    const files = /\/console\/files\/\w+\//.exec(shell.text)![0];
    const script = await ask(weir.url, `${files}app.js`, { headers: { 'accept-encoding': 'gzip' } });
    assert.deepEqual(
      [script.status, script.headers['cache-control'], script.headers['content-encoding']],
      [200, 'public, max-age=31536000, immutable', 'gzip'],
    );
    assert.equal((await ask(weir.url, '/console/files/0000/app.js')).status, 404);
    assert.equal((await ask(weir.url, `${files}../../../package.json`)).status, 404);
    const { readConsole } = await import('../../src/http/console/files.ts');
    const { files: all, page: index } = readConsole();
    const packed = await Promise.all([...all.values(), index('shell', '/rules')].map((file) => file.packed('gzip')));
    const bytes = packed.reduce((sum, { length }) => sum + length, 0);
    assert.ok(bytes <= MOST_BYTES, `${bytes} bytes`);
  });

  test('D18.8 the first thing to be seen comes with the page: it waits for one style sheet and a line of script, not for modules or data', async () => {
    const cookie = cookieOf(await signIn(KEY, 'Jana Novák'));
    const [nobody, somebody] = [await ask(weir.url, '/console/'), await ask(weir.url, '/console/', { headers: { cookie } })];
    assert.match(nobody.text, /<div id="app"><main class="sign-in">[\s\S]*<h1>Sign in<\/h1>/);
    assert.match(somebody.text, /<div id="app"><div class="shell"[\s\S]*Loading…/);
    assert.notEqual(nobody.headers.etag, somebody.headers.etag);
    assert.match(somebody.headers.vary!, /Cookie/);
    for (const { text } of [nobody, somebody]) {
      const awaited = [...text.matchAll(/<link rel="stylesheet" href="([^"]+)"|<script src="([^"]+)"/g)].map(
        ([, sheet, script]) => sheet ?? script!,
      );
      assert.deepEqual(
        awaited.map((path) => path.replace(/^\/console\/files\/\w+/, '')),
        ['/styles.css'],
      );
      const answers = await Promise.all(
        ['/console/', ...awaited].map((path) => ask(weir.url, path, { headers: { 'accept-encoding': 'gzip' } })),
      );
      const bytes = answers.reduce((sum, { headers }) => sum + Number(headers['content-length']), 0);
      assert.ok(bytes <= MOST_FIRST_BYTES, `${bytes} bytes`);
    }
  });

  test('D18.2 a session is a cookie that scripts cannot read, and names the person in the audit log', async () => {
    const session = await signIn(KEY, 'Jana Novák');
    assert.match(session.headers['set-cookie']!, /^weir_session=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/);
    const cookie = cookieOf(session);
    const made = await ask(weir.url, '/v1/manage/lists', { method: 'POST', headers: { ...PROOF, cookie }, body: '{"name":"audited"}' });
    assert.equal(made.status, 201, made.text);
    const { entries } = JSON.parse((await ask(weir.url, '/v1/manage/audit?limit=1', { headers: { cookie } })).text);
    assert.deepEqual([entries[0].event, entries[0].actor], ['list created', 'Jana Novák']);
    for (const [body, field] of [
      [{ name: 'x' }, 'key'],
      [{ key: KEY }, 'name'],
      [{ key: KEY, name: '' }, 'name'],
      [{ key: KEY, name: 'a\nb' }, 'name'],
      [{ key: KEY, name: '\ud800' }, 'name'],
      [{ key: KEY, name: 'a'.repeat(101) }, 'name'],
    ] as const) {
      const { status, text } = await ask(weir.url, '/console/session', { method: 'POST', headers: PROOF, body: JSON.stringify(body) });
      assert.deepEqual([status, JSON.parse(text).details[0].field], [400, field]);
    }
    const sender = await newKey(settings, JSON.parse(session.text).session.workspace_id);
    assert.equal((await signIn(sender, 'Jana')).status, 403);
  });

  test('D18.3 a session ends with its key and with the sign-out', async () => {
    const key = JSON.parse(
      (
        await ask(weir.url, '/v1/manage/keys', {
          method: 'POST',
          headers: bearer(KEY),
          body: '{"name":"short","permissions":["rules:read"]}',
        })
      ).text,
    );
    const who = (cookie: string) => ask(weir.url, '/v1/manage/whoami', { headers: { cookie } });
    const [first, second] = [cookieOf(await signIn(key.key, 'A')), cookieOf(await signIn(key.key, 'B'))];
    assert.equal((await who(first)).status, 200);
    const out = await ask(weir.url, '/console/session', { method: 'DELETE', headers: { ...PROOF, cookie: first } });
    assert.match(out.headers['set-cookie']!, /^weir_session=; Max-Age=0;/);
    assert.equal((await who(first)).status, 401);
    assert.equal((await who(second)).status, 200);
    await ask(weir.url, `/v1/manage/keys/${key.id}`, { method: 'DELETE', headers: { ...bearer(KEY), 'if-match': '*' } });
    await eventually(async () => assert.equal((await who(second)).status, 401));
    assert.equal((await who('weir_session=short')).status, 401);
    assert.equal((await who(`weir_session=${'A'.repeat(43)}`)).status, 401);
  });

  test('D47.11 no page of the console, its help or the API documents is framed, or has an opener of another site', async () => {
    const shell = await ask(weir.url, '/console/');
    const asked = ['/console/', '/console/rules/anything', '/console/help/docs/README.md', '/docs/signal/swagger/', '/docs/manage/swagger'];
    for (const [path, headers] of [
      ...asked.map((each) => [each, {}] as const),
      ['/console/', { 'if-none-match': shell.headers.etag! }] as const,
    ]) {
      const { status, headers: sent } = await ask(weir.url, path, { headers });
      const { 'x-frame-options': framed, 'cross-origin-opener-policy': opened, 'content-security-policy': policy } = sent;
      assert.deepEqual([status === 304 || status === 200, framed, opened], [true, 'DENY', 'same-origin'], path);
      assert.match(policy!, /frame-ancestors 'none'/);
    }
  });

  test('D18.74 the service has its documents: every link leads to one that is there, and to its heading; what is not there is 404', async () => {
    const start = await ask(weir.url, '/console/help/');
    assert.deepEqual([start.status, start.headers.location], [302, '/console/help/docs/README.md']);
    const [anchors, asked] = [new Map<string, Set<string>>(), new Set(['/console/help/docs/README.md'])];
    const wanted: string[] = [];
    const { PAGES } = (await import(new URL('../../packages/console/pages.js', import.meta.url).href)) as { PAGES: { help: string }[] };
    wanted.push(...PAGES.map(({ help }) => `/console/help/${help}`));
    for (const path of [...asked, ...wanted]) asked.add(path.split('#')[0]!);
    for (const path of asked) {
      const { status, text, headers } = await ask(weir.url, path);
      assert.equal(status, 200, path);
      if (path.endsWith('.png')) continue;
      assert.match(headers['content-security-policy']!, /^default-src 'none'; script-src 'self'/);
      assert.doesNotMatch(text.replace(/<script src="\/console\/files[^>]*><\/script>/, ''), /<script|\son\w+=|style=/, path);
      anchors.set(path, new Set([...text.matchAll(/<h\d id="([^"]*)"/g)].map(([, id]) => id!)));
      for (const [, link] of text.matchAll(/(?:href|src)="([^"]*)"/g)) {
        const { pathname, hash } = new URL(link!, `http://weir${path}`);
        if (!link!.startsWith('#') && !pathname.startsWith('/console/help/')) continue;
        asked.add(pathname);
        wanted.push(pathname + hash);
      }
    }
    const gone = wanted.filter((link) => link.includes('#') && !anchors.get(link.split('#')[0]!)!.has(link.split('#')[1]!));
    assert.deepEqual(gone, []);
    assert.ok(anchors.size > 50, `${anchors.size} documents`);
    for (const path of ['docs/none.md', 'docs', 'package.json', 'docs/../package.json', '..%2fpackage.json'])
      assert.equal((await ask(weir.url, `/console/help/${path}`)).status, 404, path);
    const { headers } = await ask(weir.url, '/console/help/docs/feeds.md', { headers: { 'accept-encoding': 'gzip' } });
    const again = await ask(weir.url, '/console/help/docs/feeds.md', { headers: { 'if-none-match': headers.etag } });
    assert.deepEqual([headers['content-encoding'], again.status], ['gzip', 304]);
  });

  test('D18.4 a change by a session has to come from the console', async () => {
    const cookie = cookieOf(await signIn(KEY, 'Jana'));
    const change = async (headers: Headers) =>
      (await ask(weir.url, '/v1/manage/lists', { method: 'POST', headers: { cookie, ...headers }, body: '{"nam":1}' })).status;
    const host = new URL(weir.url).host;
    assert.equal(await change({}), 403);
    assert.equal(await change({ 'x-weir-console': '1', 'sec-fetch-site': 'cross-site' }), 403);
    assert.equal(await change({ 'x-weir-console': '1', 'sec-fetch-site': 'same-site' }), 403);
    assert.equal(await change({ 'sec-fetch-site': 'same-origin' }), 403);
    assert.equal(await change({ 'x-weir-console': '1', origin: 'https://evil.example' }), 403);
    assert.equal(await change({ 'x-weir-console': '1', origin: `http://${host}` }), 400);
    assert.equal(await change(PROOF), 400);
    assert.equal(await change({ 'x-weir-console': '1' }), 403);
    assert.equal((await signIn(KEY, 'Jana', { 'sec-fetch-site': 'cross-site', 'x-weir-console': '1' })).status, 403);
  });

  test('D18.5 wrong keys and cookies are limited as wrong keys are', async () => {
    // The limit counts by second: two seconds may share the attempts, and a slow machine takes longer.
    await eventually(async () => {
      const statuses = await Promise.all(
        Array.from({ length: 60 }, (_, i) => signIn(`weir-wrong-key-${i}`, 'x').then(({ status }) => status)),
      );
      assert.ok(statuses.includes(429), statuses.join());
    });
    await eventually(async () => assert.equal((await signIn('weir-wrong-key', 'x')).status, 401));
    assert.equal((await signIn(KEY, 'Jana')).status, 200);
  });

  test('D18.2, D18.6 signing in; a reader is offered nothing that he may not do', async () => {
    await page.open(`${weir.url}/console/`);
    await page.fill('API key', 'weir-wrong-key');
    await page.fill('Your name', 'Jana Novák');
    await page.click('Sign in');
    await page.sees('This key is unknown');
    const reader = JSON.parse(
      (
        await ask(weir.url, '/v1/manage/keys', {
          method: 'POST',
          headers: bearer(KEY),
          body: '{"name":"reader","permissions":["rules:read"]}',
        })
      ).text,
    );
    await page.signIn(reader.key);
    await page.show('/feeds', 'Feeds');
    await page.sees('the default list');
    assert.doesNotMatch(await page.text(), /New list|Compose feed/);
    await page.click('Sign out');
    await page.sees('Sign in');
    await page.signIn(KEY);
    await page.sees('Jana Novák');
  });

  test('D18.75 the first steps of a fresh workspace tick themselves off, and are gone when nobody wants them', async () => {
    await page.click('Overview');
    await page.sees(/First steps[\s\S]*2 of 6 done/);
    await page.sees(`curl -sS -X POST '${weir.url}/v1/signal'`);
    const change = { method: 'PATCH', headers: { ...bearer(KEY), 'if-match': '*' } };
    await ask(weir.url, '/v1/manage/workspace', { ...change, body: '{"min_prefix_v4":8}' });
    await page.sees(/3 of 6 done/);
    await page.sees(/done\s+Guard rails\s+to do\s+Large changes[\s\S]*done\s+A list/);
    await page.click('Hide');
    await page.seesNot('First steps');
    await page.show('/', 'Overview');
    await page.sees('Last hour');
    assert.doesNotMatch(await page.text(), /First steps/);
    await ask(weir.url, '/v1/manage/workspace', { ...change, body: '{"min_prefix_v4":0}' });
  });

  test('D18.20, D18.21 a list and a feed are made, and a signal that is posted appears, without loading the page again', async () => {
    await page.click('Feeds');
    await page.sees('the default list');
    await page.click('New list');
    await page.sees('Senders and devices use this name');
    await page.fill('Name', HOSTILE);
    await page.fill('Description', 'W'.repeat(2048));
    await page.click('Create list');
    await page.sees(HOSTILE);
    await page.show('/feeds', 'Feeds');
    await page.click('Compose feed');
    await page.sees('Devices fetch the feed by this name');
    await page.fill('Name', 'perimeter');
    await page.fill('All lists, including future ones', 'true');
    await page.sees(/0 entries .*limit 131,072/);
    await page.click('Create feed');
    await page.sees('Empty for this action and family');
    await postSignals(weir.url, KEY, [{ type: 'access_rules', ip: '192.0.2.77', action: 'block' }]);
    await page.sees('192.0.2.77');
    await page.sees(/Entries\s+1\s/);
  });

  test('D18.22 a feed is changed, with what that changes before it is done', async () => {
    await page.click('Change');
    await page.sees('Change perimeter');
    await page.fill('Family', 'v6');
    await page.sees('1 entry now, 0 after the change');
    await page.click('Apply');
    await page.sees('perimeter was changed.');
    await page.fill('Family', 'v4');
    await page.fill('Format', 'csv_indicator');
    await page.sees('192.0.2.77,IP,high,high');
    await page.fill('Device', 'FortiGate');
    await page.sees('set resource "');
  });

  test('D18.11 the overview counts entries and pulls', async () => {
    await getFeed(weir.url, KEY);
    await page.click('Overview');
    await page.sees(/Entries accepted\s+1\s/);
    await page.sees(/Fetches\s+1\s/);
    await page.sees('Guard rails are off');
    const { body } = { body: JSON.parse((await ask(weir.url, '/v1/manage/activity?minutes=1440&step=60', { headers: bearer(KEY) })).text) };
    assert.deepEqual([body.accepted.at(-1), body.step_minutes], [1, 60]);
  });

  test('D18.91 a page comes in few files, packed with Brotli; what it asks first is asked before they are there, and once', async () => {
    for (const [path, heading, shown] of [
      ['/', 'Overview', 'Needs attention'],
      ['/rules', 'Rules', '192.0.2.77'],
      ['/lookup?target=192.0.2.77', 'Look up', 'is blocked on'],
    ] as const) {
      const before = page.requests.length;
      await page.show(path, heading);
      await page.sees(shown);
      assert.equal(await page.evaluate<number>('weirEarly.size'), 0, `what was asked early is what ${path} asks`);
      const asked = page.requests.slice(before).map((url) => new URL(url).pathname);
      assert.equal(asked.filter((each) => each === '/console/session').length, 1);
      const scripts = asked.filter((each) => each.startsWith('/console/files/') && each.endsWith('.js') && !each.endsWith('/uplot.js'));
      assert.ok(scripts.length <= 10, scripts.join(' '));
      const packed = await ask(weir.url, scripts[0]!, { headers: { 'accept-encoding': 'gzip, deflate, br, zstd' } });
      assert.equal(packed.headers['content-encoding'], 'br');
    }
    await page.show('/', 'Overview');
  });

  test('D18.79 a chart says its values at the pointer and to the keyboard, has a range, and a span of it opens what changed then', async () => {
    await page.show('/', 'Overview');
    await page.sees(/Entries, last 24 hours/);
    await page.fill('Time range', '60');
    await page.sees(/Entries, last 1 hour/);
    await eventually(async () =>
      assert.ok(await page.evaluate<boolean>(`document.querySelector('[aria-label^="Entries of the last"] .u-over') !== null`)),
    );
    await page.evaluate(`document.querySelector('[aria-label^="Entries of the last"]').focus()`);
    await page.press('End');
    await page.sees(/\d\d:\d\d: \d+ accepted, \d+ applied, \d+ failed/);
    await page.press('Enter');
    await page.sees(/Timeline[\s\S]*From[\s\S]*To/);
    const asked = new URLSearchParams(await page.evaluate<string>('location.search'));
    assert.equal(Date.parse(asked.get('until')!) - Date.parse(asked.get('since')!), 60_000);

    await page.show('/', 'Overview');
    await eventually(async () =>
      assert.ok(await page.evaluate<boolean>(`document.querySelector('[aria-label^="Entries of the last"] .u-over') !== null`)),
    );
    await page.evaluate(`(() => {
      const over = document.querySelector('[aria-label^="Entries of the last"] .u-over');
      const { left, top } = over.getBoundingClientRect();
      const send = (type, x, to) => to.dispatchEvent(new MouseEvent(type, { clientX: left + x, clientY: top + 20, button: 0, buttons: 1, bubbles: true, view: window, movementX: 1, movementY: 1 }));
      send('mouseenter', 50, over);
      send('mousemove', 50, over);
      send('mousedown', 50, over);
      send('mousemove', 150, over);
      send('mouseup', 150, document);
    })()`);
    await eventually(async () => assert.equal(await page.evaluate<string>('location.pathname'), '/console/changes'));
    const dragged = new URLSearchParams(await page.evaluate<string>('location.search'));
    assert.ok(Date.parse(dragged.get('until')!) > Date.parse(dragged.get('since')!));
  });

  test('D45.11 a chart of 90 days has an axis of these days, however few of them are known', async () => {
    await page.show('/feeds', 'Feeds');
    await page.evaluate(`(() => {
      const draw = CanvasRenderingContext2D.prototype.fillText;
      window.drawn = [];
      CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
        window.drawn.push(text);
        return draw.call(this, text, ...rest);
      };
    })()`);
    await page.click('Overview');
    const labels = await eventually(async () => {
      const days = (await page.evaluate<string[]>('window.drawn')).filter((text) => /^\d+ \w+$/.test(text));
      assert.ok(days.length > 2);
      return days;
    });
    const [now, day] = [Date.now(), 86_400_000];
    const shown = Array.from({ length: 93 }, (_, i) => new Date(now - (i - 1) * day).toISOString().slice(5, 10));
    for (const label of labels) {
      const [date, month] = label.split(' ') as [string, string];
      const at = new Date(`${month.slice(0, 3)} ${date}, 2024 UTC`).toISOString().slice(5, 10);
      assert.ok(shown.includes(at), labels.join());
    }
  });

  test('D15.50, D15.51 a feed is deleted after what goes with it was told, and brought back', async () => {
    const { text } = await ask(weir.url, '/v1/manage/keys', {
      ...{ method: 'POST', headers: { ...bearer(KEY), 'content-type': 'application/json' } },
      body: JSON.stringify({ name: 'branch firewall', permissions: ['feed:read'], feed: 'perimeter' }),
    });
    const { key } = JSON.parse(text);
    await page.show('/feeds', 'Feeds');
    await page.click('perimeter');
    await page.sees('Set up a device');
    await page.click('Delete');
    await page.sees('Delete perimeter?');
    await page.sees('Keys bound to it are revoked: branch firewall.');
    await page.click('Delete', 'dialog');
    await page.sees('perimeter was deleted.');
    await page.sees('Recently deleted');
    await eventually(async () => assert.equal((await getFeed(weir.url, key, '/perimeter')).status, 401));
    await page.click('Restore perimeter');
    await page.sees('perimeter was restored.');
    await eventually(async () => assert.equal((await getFeed(weir.url, key, '/perimeter')).status, 200));
    await page.show('/feeds', 'Feeds');
  });

  test('D18.54 a device is set up on the page of its feed: a bound key, shown once in its lines, and its first pull', async () => {
    await page.click('perimeter');
    await page.fill('Device', 'FortiGate');
    await page.click('Create key');
    await page.sees('Waiting for the first fetch');
    const key = /set password "(weir_[^"]+)"/.exec(await page.text())![1]!;
    assert.equal((await getFeed(weir.url, key)).status, 403, 'it is bound to its feed');
    assert.equal((await getFeed(weir.url, key, '/perimeter')).status, 200);
    await page.sees(/Connected\. .* fetched 0 entries\./);
    await page.show('/feeds', 'Feeds');
    assert.ok(!(await page.text()).includes(key));
  });

  test('D53.5 D53.6 D53.9 the map, the widest blocks and the bars of the overview and of a feed say what the service answers; keys zoom in and out', async () => {
    const networks = ['45.83.64.0/22', '45.83.65.77', '2001:db8::/32', '198.51.0.0/16'];
    await postSignals(weir.url, KEY, [
      ...networks.map((ip) => ({ type: 'access_rules', ip, action: 'block' })),
      { type: 'access_rules', asn: 'AS64500', action: 'block' },
    ]);
    const body = JSON.stringify({ value: '198.51.7.7', reason: 'mass "scan"' });
    await ask(weir.url, '/v1/manage/rules', { method: 'POST', headers: bearer(KEY), body });
    const answer = async (query = '') =>
      JSON.parse((await ask(weir.url, `/v1/manage/address-space${query}`, { headers: bearer(KEY) })).text) as {
        addresses: number[];
        widest: { network: string; addresses: number }[];
      };
    await eventually(async () => assert.equal((await answer()).addresses[45], 1024));
    await page.show('/feeds/workspace', 'default');
    await page.sees(/Address space[\s\S]*All of IPv4/);
    for (const { network, addresses } of (await answer()).widest)
      await page.sees(new RegExp(`${network.replaceAll('.', '\\.')}\\s+${addresses.toLocaleString('en')} address`));
    await page.sees(/2001:db8::\/32\s+4\.3B × \/64/);
    await page.evaluate(`document.querySelector('svg.map').focus()`);
    await page.press('Home');
    for (let i = 0; i < 2; i += 1) await page.press('ArrowDown');
    for (let i = 0; i < 13; i += 1) await page.press('ArrowRight');
    await page.sees('45.0.0.0/8: 1,024 of 16,777,216 addresses blocked (under 1%), 2 rules inside');
    await page.press('Enter');
    await page.sees('Rules in 45.0.0.0/8');
    const inside = await answer('?within=45.0.0.0/8');
    assert.deepEqual(
      inside.addresses.map((each, i) => (each > 0 ? i : -1)).filter((i) => i >= 0),
      [83],
    );
    await page.sees('As a table (1 network)');
    await page.press('Escape');
    await page.sees('45.0.0.0/8: 1,024 of');
    await page.show('/', 'Overview');
    await page.fill('Address space of', 'workspace');
    await page.sees(/Widest blocks[\s\S]*198\.51\.0\.0\/16\s+65,536 addresses/);
    const history = JSON.parse((await ask(weir.url, '/v1/manage/history/rules?days=1', { headers: bearer(KEY) })).text);
    const sum = (field: string) => history.hours.reduce((all: number, each: Record<string, number>) => all + each[field]!, 0);
    await page.sees(
      new RegExp(`Changes of rules, last 24 hours[\\s\\S]*Added\\s+${sum('added')}\\s[\\s\\S]*Expired\\s+${sum('expired')}\\s`),
    );
    const { days } = JSON.parse((await ask(weir.url, '/v1/manage/history?days=7', { headers: bearer(KEY) })).text);
    await page.sees(new RegExp(`Last 7 days, added\\s+${days.reduce((all: number, { added }: { added: number }) => all + added, 0)}\\s`));
    const labels = await page.evaluate<string[]>(
      `[...document.querySelectorAll('[aria-label^="Rules by list"]')].map((each) => each.getAttribute('aria-label'))`,
    );
    for (const { name, rules } of history.lists.slice(0, 5)) assert.ok(labels[0]!.includes(`${name}: latest ${rules.at(-1)}`), labels[0]);
    const bar = (name: string) =>
      page.evaluate<string>(
        `[...document.querySelectorAll('main .full-feeds a')].find((each) => each.innerText === ${JSON.stringify(name)}).href`,
      );
    await page.sees(
      /Top reasons[\s\S]*mass "scan"\s+1\s[\s\S]*Top keys[\s\S]*bootstrap\s+\d[\s\S]*Top countries and ASNs[\s\S]*AS64500\s+\d/,
    );
    await page.open(await bar('AS64500'));
    await page.sees('is:AS64500');
    await page.sees('1 rule');
    await page.show('/', 'Overview');
    await page.sees('mass "scan"');
    await page.open(await bar('mass "scan"'));
    await page.sees('198.51.7.7');
    await page.sees('1 rule');
  });

  test('D53.7 an alert has a verb that leads to the act: the limit of a feed is raised in the form that it opens', async () => {
    const manage = (method: string, path: string, body = '{}') =>
      ask(weir.url, `/v1/manage${path}`, { method, headers: { ...bearer(KEY), 'if-match': '*' }, body });
    const { id } = JSON.parse((await manage('POST', '/feeds', '{"name":"narrow","all_lists":true,"max_entries":1}')).text);
    await eventually(async () => assert.equal((await getFeed(weir.url, KEY, '/narrow')).status, 413));
    await page.show('/', 'Overview');
    await page.sees(/feed "narrow"[\s\S]*Raise limit/);
    await page.click('Raise limit');
    await page.sees('Change narrow');
    await page.press('Escape');
    await page.seesNot('Change narrow');
    assert.equal(
      (await ask(weir.url, `/v1/manage/feeds/${id}?confirmed=1`, { method: 'DELETE', headers: { ...bearer(KEY), 'if-match': '*' } }))
        .status,
      200,
    );
  });

  test('D65.6 the page of a feed stops and promotes a canary', async () => {
    const manage = (path: string, body: object) =>
      ask(weir.url, `/v1/manage${path}`, { method: 'POST', headers: bearer(KEY), body: JSON.stringify(body) });
    assert.equal((await manage('/lists', { name: 'staged', canary_keys: 'lab' })).status, 201);
    assert.equal((await manage('/rules', { list: 'staged', value: '44.0.0.0/9', action: 'block' })).status, 200);
    await eventually(async () =>
      assert.match((await ask(weir.url, '/v1/manage/freezes', { headers: bearer(KEY) })).text, /"canary_until":"/),
    );
    await page.show('/feeds', 'Feeds');
    await page.click('staged');
    await page.sees('A large change (8,388,608 addresses, more than 65,536)');
    await page.click('Stop');
    await page.sees('No other key receives it until you promote it.');
    await page.fill('Reason', 'cuts off a customer');
    await page.click('Stop');
    await page.sees('waits until you promote the change.');
    await page.sees('stopped: cuts off a customer');
    await page.click('Promote');
    await page.sees('1 network: 44.0.0.0/9');
    await page.click('Promote');
    await page.sees('is served to all keys.');
    await page.seesNot('A large change');
  });

  test('D18.7 the keyboard alone: a link past the navigation, / for the search, Escape closes a dialog and the focus goes back', async () => {
    const focus = () => page.evaluate<string>("document.activeElement.getAttribute('aria-label') ?? document.activeElement.innerText");
    const focusIs = (name: string) => eventually(async () => assert.equal((await focus()).trim(), name));
    await page.show('/feeds', 'Feeds');
    await page.sees('the default list');
    await page.press('Tab');
    await focusIs('Skip to content');
    await page.press('Enter');
    await eventually(async () => assert.equal(await page.evaluate('document.activeElement.id'), 'main'));
    await page.press('/');
    await focusIs('Look up an address, find anything');
    await page.evaluate("[...document.querySelectorAll('button')].find((each) => each.innerText.trim() === 'New list').focus()");
    await page.press('Enter');
    await page.sees('Senders and devices use this name');
    await page.press('Escape');
    await page.seesNot('Senders and devices use this name');
    await focusIs('New list');
    await page.press('Enter');
    await page.fill('Name', 'half a name');
    await page.press('Escape');
    await page.sees('Discard changes?');
    await page.click('Keep editing');
    assert.equal(await page.evaluate("document.querySelector('dialog input').value"), 'half a name');
    await page.press('Escape');
    await page.click('Discard');
    await page.seesNot('Senders and devices use this name');
  });

  test('D18.7 every page of feeds and the overview are sound: no serious fault, no error, no other host, no sideways scrolling', async () => {
    const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
    // Colours are those of tokens.css: one page in the dark stands for all.
    for (const [scheme, path, heading] of [
      ['light', '/', 'Overview'],
      ['light', '/feeds', 'Feeds'],
      ['light', '/feeds/composed/perimeter', 'perimeter'],
      ['dark', '/feeds/composed/perimeter', 'perimeter'],
      ['dark', '/help/docs/expressions.md', 'Filter expressions'],
      ['light', '/help/docs/console.md', 'The console'],
    ] as const) {
      await page.look(375, 800, scheme);
      await page.show(path, heading);
      await eventually(async () => assert.doesNotMatch(await page.text(), /Loading…/));
      assert.ok((await page.evaluate<number>('document.documentElement.scrollWidth')) <= 375, path);
      await page.evaluate(axe);
      const faults = await page.evaluate<string[]>(
        `axe.run().then(({ violations }) => violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
            .map(({ id, nodes }) => id + ': ' + nodes.map((node) => node.html).join(' ')))`,
      );
      assert.deepEqual(faults, [], `${path} ${scheme}`);
    }
    const hosts = new Set(page.requests.filter((url) => !url.startsWith('data:')).map((url) => new URL(url).origin));
    assert.deepEqual([...hosts], [weir.url]);
    // The refused sign-in is all that the browser has to say; what was deleted and brought back may be gone for 2 seconds (D5.24).
    const isExpected = (text: string) =>
      text.includes('/console/session') || (text.includes('/v1/manage/content?') && text.includes('a status of 404'));
    assert.deepEqual(
      page.complaints.filter((text) => !isExpected(text)),
      [],
    );
  });

  test('D18.106 a tab names the person in whose name it acts, also when somebody else has signed in in another one', async () => {
    await page.show('/feeds', 'Feeds');
    const who = `document.querySelector('.who bdi').innerText`;
    const before = await page.evaluate<string>(who);
    const other = JSON.parse(
      (
        await ask(weir.url, '/v1/manage/keys', {
          method: 'POST',
          headers: bearer(KEY),
          body: JSON.stringify({ name: 'reader', permissions: ['rules:read'] }),
        })
      ).text,
    );
    const sign = (key: string, name: string) =>
      page.evaluate<number>(
        `fetch('/console/session', { method: 'POST', headers: { 'X-Weir-Console': '1' }, body: ${JSON.stringify(JSON.stringify({ key, name }))} }).then(({ status }) => status)`,
      );
    /** The tab is looked at until it says so: a look whose request fails changes nothing. */
    const looksLike = (name: string) =>
      eventually(async () => {
        await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
        assert.equal(await page.evaluate<string>(who), name);
      });
    assert.equal(await sign(other.key, 'Rita'), 200);
    await looksLike('Rita');
    await page.seesNot('Compose feed');
    assert.equal(await sign(KEY, before), 200);
    await looksLike(before);
    await page.sees('Compose feed');
  });

  test('D18.55 D18.104 what was typed outlives a key that is revoked, and Escape asks before it drops it; a service that is away is one banner, with what was read', async () => {
    await page.look(1280, 800, 'light');
    const made = await ask(weir.url, '/v1/manage/keys', {
      method: 'POST',
      headers: bearer(KEY),
      body: JSON.stringify({ name: 'short', permissions: ['rules:write', 'manage'] }),
    });
    const { id, key } = JSON.parse(made.text);
    await page.show('/feeds', 'Feeds');
    await page.click('Sign out');
    await page.signIn(key, 'Ondra');
    await page.show('/rules', 'Rules');
    await page.click('Block or allow');
    await page.fill('Address, network, ASN or country', '192.0.2.99');
    await page.press('Escape');
    await page.sees('Discard changes?');
    await page.click('Keep editing');
    const revoked = await ask(weir.url, `/v1/manage/keys/${id}`, { method: 'DELETE', headers: bearer(KEY) });
    assert.equal(revoked.status, 200, revoked.text);
    await page.sees('You are signed out');
    await page.fill('API key', KEY);
    await page.fill('Your name', 'Ondra');
    await page.click('Sign in');
    await page.seesNot('You are signed out');
    assert.equal(await page.evaluate<string>(`document.querySelector('dialog input').value`), '192.0.2.99');
    await page.press('Escape');
    await page.click('Discard');
    await page.show('/feeds', 'Feeds');
    await page.sees('perimeter');
    await weir.kill('SIGKILL');
    await page.sees('The service is not responding.');
    await page.sees('perimeter');
    assert.equal((await page.text()).split('is not responding').length, 2, 'once');
    const banner = `document.querySelector('main .notice.bad').innerText`;
    const told = await page.evaluate<string>(banner);
    await page.click('perimeter');
    await page.sees('Not loaded yet.');
    assert.equal(await page.evaluate<string>(banner), told, 'D18.104 another page is no later beginning');
  });
});
