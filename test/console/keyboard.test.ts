/** The console with the keyboard alone, at a desk and on a phone: pages, dialogs, long tables; and whether all of it can be read. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startBrowser } from '../support/browser.ts';
import { type ConsolePage, consolePage } from '../support/console.ts';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { ask, bearer, getFeed, postSignals } from '../support/http.ts';
import { PALE, walk, walkRows } from '../support/keyboard.ts';
import { needs } from '../support/programs.ts';
import { eventually, KEY, startWeir, type Weir } from '../support/weir.ts';

/** Every page and dialog at every width, in light and dark, and by axe, where that is asked for (CONTRIBUTING.md); else some, in turn. */
const ALL = process.env.TEST_ALL_LOOKS !== undefined;
const LOOKS = [1440, 1024, 390].flatMap((width) => (['light', 'dark'] as const).map((scheme) => ({ width, scheme })));
/** Of these what one of the two widths gets. */
const shareOf = <T>(all: readonly T[], width: number): readonly T[] =>
  ALL ? all : all.filter((_, i) => i % 4 === (width === 390 ? 2 : 0));

suite('D18.92 the console with the keyboard alone', { skip: needs('chromium'), timeout: 600_000 }, () => {
  let weir: Weir;
  let browser: Awaited<ReturnType<typeof startBrowser>>;
  let page: ConsolePage;
  const folder = temporaryFolder({ after });

  before(async () => {
    const settings = { ...smallGeo(folder), DATA_DIR: folder, BOOTSTRAP_API_KEY: KEY, RATE_LIMIT_MANAGE: '0', FEED_REBUILD_SECONDS: '0' };
    [weir, browser] = await Promise.all([startWeir(settings), startBrowser()]);
    page = consolePage(await browser.page(), weir.url);
    const manage = async (path: string, body: object) => {
      const { status, text } = await ask(weir.url, `/v1/manage${path}`, {
        method: 'POST',
        headers: bearer(KEY),
        body: JSON.stringify(body),
      });
      assert.ok(status < 300, text);
    };
    const blocks = Array.from({ length: 60 }, (_, i) => ({ type: 'access_rules', action: 'block', ip: `45.20.0.${i + 1}` }));
    assert.equal((await postSignals(weir.url, KEY, blocks)).status, 200);
    const waf = ['login', 'admin'].map((name, order) => ({
      ...{ kind: 'waf_rule', op: 'upsert', rule_ref: name },
      rule: { type: 'custom', action: 'block', expression: `http.request.path contains "/${name}"`, order: order * 10 },
    }));
    assert.equal((await postSignals(weir.url, KEY, waf, '/v2/signal')).status, 200);
    await manage('/lists', { name: 'second' });
    await manage('/feeds', { name: 'perimeter', all_lists: true });
    await getFeed(weir.url, KEY);
    await ask(weir.url, '/v1/decisions/stream?startup=true', { headers: { 'x-api-key': KEY, 'user-agent': 'nginx-bouncer/v1.3' } });
    await page.look(1440, 900, 'light');
    await page.signIn(KEY);
  });
  after(async () => {
    await browser.close();
    await weir.kill('SIGTERM');
  });

  /** Opens a page, once all of it is there. */
  async function open(path: string, heading: string): Promise<void> {
    await page.show(path, heading);
    await eventually(async () => assert.doesNotMatch(await page.text(), /Loading…/));
  }

  const PAGES = [
    ['/rules', 'Rules'],
    ['/', 'Overview'],
    ['/changes', 'Timeline'],
    ['/sources', 'Sources'],
    ['/backtest', 'Backtest'],
    ['/worth', 'List value'],
    ['/approvals', 'Approvals'],
    ['/bouncers', 'Bouncers'],
    ['/rules/waf', 'Rules'],
    ['/feeds/composed/perimeter', 'perimeter'],
    ['/devices', 'Devices'],
    ['/workspace', 'Workspace'],
    ['/audit', 'Audit'],
    ['/people', 'People'],
    ['/lookup?target=45.20.0.7', 'Look up'],
  ] as const;
  const DIALOGS = [
    ['/rules/waf', 'Rules', ['Change order', 'Test expression', 'Add rule']],
    ['/sources', 'Sources', ['Add source']],
    ['/rules', 'Rules', ['Block or allow', 'Unblock', 'Paste list', 'Paste report']],
    ['/webhooks', 'Webhooks', ['New webhook']],
    ['/workspace', 'Workspace', ['Change guard rails']],
    ['/feeds/composed/perimeter', 'perimeter', ['Change', 'Delete']],
    ['/feeds', 'Feeds', ['New list', 'Compose feed']],
    ['/keys', 'Keys', ['New key']],
    ['/people', 'People', ['Add group role']],
    ['/', 'Overview', ['Snooze: Guard rails are off in default.']],
    ['/devices', 'Devices', ['New device']],
    ['/lookup?target=45.20.0.7', 'Look up', ['Allow']],
  ] as const;

  for (const width of [1440, 390]) {
    test(`D18.92 at ${width} px Tab comes to all of a page, in its order, where one sees it; long tables are one stop, in which keys keep the focus`, async () => {
      await page.look(width, 900, 'light');
      for (const [path, heading] of shareOf(PAGES, width)) {
        await open(path, heading);
        await walk(page, 'main', `${path} ${width}`);
        if (await page.evaluate<boolean>(`document.querySelector('.long-row') !== null`)) await walkRows(page, `${path} ${width}`);
      }
      if (width === 1440) assert.ok((await walk(page, '.side', 'the navigation')).includes('List value'));
      assert.ok((await walk(page, '.bar', 'the bar')).includes('Sign out'));
    });

    test(`D18.92 at ${width} px dialogs open with Enter, hold the focus, ask before they drop what was typed, and give the focus back`, async () => {
      await page.look(width, 900, 'light');
      for (const [path, heading, openers] of shareOf(DIALOGS, width)) {
        await open(path, heading);
        for (const opener of openers) await dialog(opener, `${opener} ${width}`);
      }
    });
  }

  const focused = (wanted: string) => page.evaluate<boolean>(`(() => { const at = document.activeElement; return Boolean(${wanted}); })()`);
  const isFocused = (wanted: string, what: string) => eventually(async () => assert.ok(await focused(wanted), `${what}: ${wanted}`));
  const isOpen = `document.querySelector('dialog[open]') !== null`;

  /** Opens a dialog by the name of its button, walks through it, and leaves it as somebody who has typed something. */
  async function dialog(opener: string, what: string): Promise<void> {
    const found = `(window.opener = [...document.querySelectorAll('main button')].find((each) => (each.ariaLabel ?? each.innerText.trim()) === ${JSON.stringify(opener)}))`;
    await eventually(async () =>
      assert.ok(await page.evaluate<boolean>(`(${found}?.focus(), window.opener === document.activeElement)`), what),
    );
    await page.press('Enter');
    await isFocused(`at.closest('dialog[open]')`, what);
    await eventually(async () => assert.doesNotMatch(await page.text(), /Loading…/));
    await walk(page, 'dialog[open]', what);
    const field = `[...document.querySelectorAll('dialog[open] :is(input:not([type]), input[type=text], textarea)')].find((each) => each.checkVisibility())`;
    const types = await page.evaluate<boolean>(
      `(() => { const field = ${field}; field?.focus(); return field !== undefined && document.querySelector('dialog[open] form') !== null; })()`,
    );
    if (types) {
      await page.type('x ');
      await page.press('Escape');
      await page.sees('Discard changes?');
      for (const keep of ['Enter', 'Escape']) {
        await isFocused(`at.innerText === 'Keep editing'`, what);
        await page.press(keep);
        await isFocused(`at === ${field}`, `${what}: ${keep} keeps`);
        assert.ok((await page.evaluate<string>(`(${field}).value`)).startsWith('x '), what);
        await page.press('Escape');
      }
      await isFocused(`at.innerText === 'Keep editing'`, what);
      await page.press('Tab');
      await isFocused(`at.innerText === 'Discard'`, what);
      await page.press('Enter');
    } else await page.press('Escape');
    await eventually(async () => assert.equal(await page.evaluate<boolean>(isOpen), false, what));
    await isFocused('at === window.opener', `${what} gives the focus back`);
  }

  test('D18.92 rows open with Enter and have the focus again; the palette and the menu of a phone do as much', async () => {
    await page.look(1440, 900, 'light');
    const places = [
      ['/changes', 'Timeline'],
      ['/rules', 'Rules'],
      ['/bouncers', 'Bouncers'],
      ['/audit', 'Audit'],
    ] as const;
    for (const [path, heading] of shareOf(places, 1440)) {
      await open(path, heading);
      await eventually(async () =>
        assert.ok(
          await page.evaluate<boolean>(`(document.querySelector('.long-row')?.focus(), document.activeElement.matches('.long-row'))`),
          path,
        ),
      );
      await page.press('Enter');
      await isFocused(`at.closest('dialog[open]')`, path);
      await walk(page, 'dialog[open]', `${path} a row`);
      await page.press('Escape');
      await isFocused(`at.matches('.long-row') && at.dataset.index === '0'`, path);
    }
    await page.press('/');
    await page.type('list value');
    await eventually(async () =>
      assert.ok(await page.evaluate<boolean>(`document.querySelector('[role=option][aria-selected=true]') !== null`)),
    );
    await page.press('ArrowDown');
    await page.press('ArrowUp');
    await page.press('Enter');
    await page.sees('Overlap');
    await page.look(390, 800, 'light');
    await page.evaluate(`document.querySelector('.menu-button').focus()`);
    await page.press('Enter');
    await isFocused(`at.closest('.side')`, 'the menu');
    assert.ok((await walk(page, '.side', 'the menu')).includes('Audit'));
    await page.press('Escape');
    await isFocused(`at.matches('.menu-button')`, 'the menu');
  });

  test('D18.92 every text can be read, in light and dark, rows of long tables too, and nothing is wider than the window', async () => {
    const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
    const found: string[] = [];
    for (const [path, heading] of ALL ? PAGES : PAGES.slice(0, 1)) {
      await open(path, heading);
      await page.evaluate(axe);
      for (const { width, scheme } of LOOKS) {
        await page.look(width, 900, scheme);
        const what = `${path} ${width} ${scheme}`;
        found.push(...(await page.evaluate<string[]>(PALE)).map((text) => `${what}: ${text}`));
        assert.ok(await page.evaluate<boolean>('document.documentElement.scrollWidth <= innerWidth'), what);
        // Elsewhere axe judges the pages on a phone.
        if (!ALL && (width !== 1024 || scheme !== 'dark')) continue;
        const faults = await page.evaluate<string[]>(
          `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map((node) => node.html).join(' ')))`,
        );
        found.push(...faults.map((fault) => `${what}: ${fault}`));
      }
    }
    assert.deepEqual(found, []);
    // What is pale is told.
    await open('/rules', 'Rules');
    await page.look(1440, 900, 'light');
    await page.evaluate(`document.querySelector('.long-row').style.color = '#bbb'`);
    assert.ok((await page.evaluate<string[]>(PALE)).length > 0);
  });
});
