/** The console's main tasks in Firefox, as in Chromium: signing in, a look-up, an unblock, a change of rules, a device, what changed. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Browser } from '../support/browser.ts';
import { type ConsolePage, consolePage } from '../support/console.ts';
import { startFirefox } from '../support/firefox.ts';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { ask, bearer, getFeed, postSignals } from '../support/http.ts';
import { needs } from '../support/programs.ts';
import { eventually, KEY, startWeir, type Weir } from '../support/weir.ts';

suite('D18.93 the console in Firefox', { skip: needs('firefox-esr'), timeout: 300_000 }, () => {
  let weir: Weir;
  let browser: Browser;
  let page: ConsolePage;
  const folder = temporaryFolder({ after });

  before(async () => {
    const settings = { ...smallGeo(folder), DATA_DIR: folder, BOOTSTRAP_API_KEY: KEY, RATE_LIMIT_MANAGE: '0', FEED_REBUILD_SECONDS: '0' };
    [weir, browser] = await Promise.all([startWeir(settings), startFirefox()]);
    page = consolePage(await browser.page(), weir.url);
    await page.look(1280, 800, 'light');
    const blocks = Array.from({ length: 120 }, (_, i) => ({ type: 'access_rules', action: 'block', ip: `45.20.0.${i + 1}` }));
    assert.equal((await postSignals(weir.url, KEY, blocks)).status, 200);
    const feed = JSON.stringify({ name: 'perimeter', all_lists: true });
    assert.equal((await ask(weir.url, '/v1/manage/feeds', { method: 'POST', headers: bearer(KEY), body: feed })).status, 201);
  });
  after(async () => {
    await browser.close();
    await weir.kill('SIGTERM');
  });

  test('D18.93 signing in, and the rules: rows, arrows, End, a dialog that gives the focus back', async () => {
    await page.signIn(KEY);
    await page.sees('Needs attention');
    await page.click('Rules');
    await eventually(async () => assert.equal(await page.evaluate(`document.querySelector('.long')?.ariaRowCount`), '121'));
    await page.evaluate(`document.querySelector('.long-row').focus()`);
    await page.press('End');
    const isAt = (index: number) =>
      eventually(async () => assert.equal(await page.evaluate('document.activeElement.dataset.index'), String(index)));
    await isAt(119);
    await page.press('Home');
    await page.press('ArrowDown');
    await isAt(1);
    await page.press('Enter');
    await eventually(async () => assert.ok(await page.evaluate(`document.querySelector('dialog[open]')?.innerText.includes('45.20.0.2')`)));
    await page.press('Escape');
    await isAt(1);
  });

  test('D18.93 a look-up, and an unblock with its preview', async () => {
    await page.press('/');
    await page.type('45[.]20[.]0[.]7');
    await page.press('Enter');
    await page.sees(/45\.20\.0\.7.* is blocked on 3 feeds/);
    await page.click('Unblock');
    await page.sees('Removes 1 rule from default.');
    await page.click('Unblock');
    await page.sees('unblocked in 1 list');
    await page.sees(/45\.20\.0\.7.* is blocked on no feed/);
  });

  test('D18.93 rules that are selected get another reason', async () => {
    await page.show('/rules?sort=target', 'Rules');
    await page.sees('119 rules');
    await page.evaluate(`document.querySelector('.long-row').focus()`);
    await page.press(' ');
    await page.press('ArrowDown', { shift: true });
    await page.sees('2 selected');
    await page.click('Change');
    await page.fill('Change the reason', 'true');
    await page.fill('Reason', 'a botnet');
    await page.sees('2 rules change.');
    await page.click('Apply to 2 rules');
    await page.sees('2 rules changed.');
  });

  test('D18.93 a device is set up, and what changed is told', async () => {
    await page.click('Feeds');
    await page.click('perimeter');
    await page.fill('Device', 'FortiGate');
    await page.click('Create key');
    await page.sees('Waiting for the first fetch');
    const key = /set password "(weir_[^"]+)"/.exec(await page.text())![1]!;
    assert.equal((await getFeed(weir.url, key, '/perimeter')).status, 200);
    await page.sees('Connected.');
    await page.click('Timeline');
    await page.sees(/Rules: 120 added[\s\S]*key created/);
    assert.deepEqual(page.complaints, []);
    assert.deepEqual([...new Set(page.requests.filter((url) => url.startsWith('http')).map((url) => new URL(url).origin))], [weir.url]);
  });
});
