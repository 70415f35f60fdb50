/** The console in a real browser: the shell, signing in, feeds. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { startBrowser } from '../support/browser.ts';
import { type ConsolePage, consolePage } from '../support/console.ts';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { ask } from '../support/http.ts';
import { needs } from '../support/programs.ts';
import { KEY, startWeir, type Weir } from '../support/weir.ts';

suite('D18 the console', { skip: needs('chromium'), timeout: 120_000 }, () => {
  let weir: Weir;
  let browser: Awaited<ReturnType<typeof startBrowser>>;
  let page: ConsolePage;

  before(async () => {
    const folder = temporaryFolder({ after });
    [weir, browser] = await Promise.all([startWeir({ ...smallGeo(folder), DATA_DIR: folder, BOOTSTRAP_API_KEY: KEY }), startBrowser()]);
    page = consolePage(await browser.page(), weir.url);
    await page.look(1280, 800, 'light');
  });
  after(async () => {
    await browser.close();
    await weir.kill('SIGTERM');
  });

  test('D18.1 a browser that asks for / is led to the console; files are kept for good', async () => {
    const moved = await ask(weir.url, '/', { headers: { accept: 'text/html,*/*' } });
    assert.deepEqual([moved.status, moved.headers.location], [302, '/console/']);
    assert.equal((await ask(weir.url, '/')).status, 200);
  });

  test('D18.2 signing in, as the person whom the audit log will name', async () => {
    await page.open(`${weir.url}/console/`);
    await page.fill('API key', 'weir-wrong-key');
    await page.fill('Your name', 'Jana Novák');
    await page.click('Sign in');
    await page.sees('This key is not known');
    await page.signIn(KEY);
    await page.sees('Jana Novák');
  });

  test('D18.20 a list is made, and a feed is composed of lists', async () => {
    await page.click('Feeds');
    await page.sees('the default list');
    await page.click('New list');
    await page.fill('Name', 'edge');
    await page.click('Make the list');
    await page.sees('The list edge is there.');
  });
});
