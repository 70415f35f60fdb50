/** Signing in to the console with a provider of OpenID Connect, in a real browser. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import { startBrowser } from '../support/browser.ts';
import { commandJson, newKey } from '../support/command.ts';
import { consolePage } from '../support/console.ts';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { freePort } from '../support/http.ts';
import { startProvider, writeProvider } from '../support/openid.ts';
import { needs } from '../support/programs.ts';
import { eventually, startWeir } from '../support/weir.ts';

suite('D24 people in the console', { skip: needs('chromium'), timeout: 300_000 }, () => {
  const folder = temporaryFolder({ after });

  test('D24.3 D24.8 D67.16 the one provider is gone to by itself; who comes back is where he was, chooses a workspace, and leaves for good', async (t) => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const provider = await startProvider(url);
    t.after(() => provider.goAway());
    provider.accounts.ada = { name: 'Ada Lovelace', groups: ['admins'] };
    provider.person = 'ada';
    const file = join(folder, 'oidc.json');
    writeProvider(file, provider);
    const settings = { ...smallGeo(folder), DATA_DIR: join(folder, 'data'), OIDC_FILE: file, BASE_URL: url, PORT: String(port) };
    const [weir, browser] = await Promise.all([startWeir(settings), startBrowser()]);
    t.after(async () => {
      await browser.close();
      await weir.kill('SIGTERM');
    });
    const { id: edge } = await commandJson<{ id: string }>(['workspace', 'create', 'edge', '--org', 'default'], settings);
    const page = consolePage(await browser.page(), url);
    await page.look(1280, 800, 'light');

    await page.open(`${url}/console/keys?shown=all`);
    await page.sees('Ada Lovelace');
    await page.sees('API keys of senders, firewalls and people');
    assert.equal(await page.evaluate<string>('location.pathname + location.search'), '/console/keys?shown=all');
    await page.fill('Workspace', edge);
    await page.sees('Overview');
    await page.sees('edge');
    assert.equal(await page.evaluate<string>(`document.querySelector('.side-foot select').selectedOptions[0].innerText`), 'edge (admin)');
    await page.click('Keys');
    await page.seesNot('bootstrap');

    // D67.16: a change that waits is counted, and forced with a reason.
    await commandJson(['workspace', 'set', 'edge', '--approval', 'all', '--approval-addresses', '1000'], settings);
    const key = await newKey(settings, 'edge');
    const block = JSON.stringify([{ type: 'access_rules', action: 'block', ip: '8.0.0.0/15', description: 'scanners' }]);
    assert.equal(
      (await fetch(`${url}/v1/signal`, { method: 'POST', headers: { authorization: `Bearer ${key}` }, body: block })).status,
      206,
    );
    await page.show('/approvals', 'Approvals');
    await page.sees('131,072 addresses, more than 1,000');
    const waiting = () => page.evaluate<string>(`document.querySelector('.side [title="1 waiting for approval"]')?.dataset.count ?? ''`);
    await eventually(async () => assert.equal(await waiting(), '1'));
    await page.click('Force');
    await page.sees('"ip":"8.0.0.0/15"');
    await page.fill('Reason', 'ticket 4711');
    await page.click('Force');
    await page.sees('The change is applied.');
    await page.sees('ticket 4711');

    await page.click('Sign out');
    await page.sees('Sign in with Acme');
    await page.sees('With a key');
    await page.open(`${url}/console/?left`);
    await page.sees('Sign in with Acme');
    // Who is still signed in at the provider is back with one click.
    await page.click('Sign in with Acme');
    await page.sees('Ada Lovelace');
    await page.click('Sign out');
    provider.accounts.ada.groups = [];
    await page.click('Sign in with Acme');
    await page.sees('None of your groups at Acme has a role here.');
    // What was being read as somebody left is refused.
    assert.deepEqual(
      page.complaints.filter((each) => !each.includes('status of 401')),
      [],
    );
  });
});
