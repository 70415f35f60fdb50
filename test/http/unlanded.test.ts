/** What is asked of rules while those that were accepted have not landed (SPEC D34.3). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { ask, bearer, postSignals } from '../support/http.ts';
import { eventually, KEY, weirFor } from '../support/weir.ts';

test('D34.3, D9.8 an undo, a deletion and a change do nothing while what was accepted before has not landed, and are asked for again', async (t) => {
  const folder = temporaryFolder(t);
  const settings = { ...smallGeo(folder), DATA_DIR: folder, BOOTSTRAP_API_KEY: KEY };
  const weir = await weirFor(t, { ...settings, ROLES: 'signals,feeds,manage' });
  const post = (path: string, body: object) =>
    ask(weir.url, `/v1/manage/${path}`, { method: 'POST', headers: bearer(KEY), body: JSON.stringify(body) });
  const events = ['192.0.2.1', '192.0.2.3'].map((ip) => ({ type: 'access_rules', action: 'block', ip, description: 'scan' }));
  const { headers } = await postSignals(weir.url, KEY, events);
  const batches = [headers['x-signal-batch']];
  const asked = [
    ['undo', { batches }],
    ['rules/change', { reason: 'scan', set: { reason: 'port scan' } }],
    ['rules/delete', { reason: 'scan' }],
  ] as const;
  const answers = await Promise.all(asked.map(([path, body]) => post(path, body)));
  for (const { status, text } of answers) {
    assert.equal(status, 409, text);
    assert.match(text, /2 messages accepted before have not landed yet: try again/);
  }
  await weirFor(t, { ...settings, ROLES: 'consumer' });
  await eventually(async () => {
    const { status, text } = await post('rules/delete', { reason: 'scan' });
    assert.equal(status, 200, text);
    assert.equal(JSON.parse(text).deleted, 2);
  });
});
