import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message } from '../ports/stream.ts';
import { watchAppends } from './append-watch.ts';
import { bufferedDraft } from './buffered-draft.ts';

const MESSAGES = [{ key: 'w', headers: {}, value: '{}' }];

/** A stream whose appends, probes and answers fail as the test says. */
function world() {
  const state = { now: 0, publish: '', probe: '', ping: '', probes: 0 };
  const outcome = async (fault: string) => {
    if (fault !== '') throw new Error(fault);
  };
  const watch = watchAppends(
    {
      draft: () => bufferedDraft(() => outcome(state.publish)),
      ping: () => outcome(state.ping),
      probe() {
        state.probes += 1;
        return outcome(state.probe);
      },
    },
    () => state.now,
  );
  const publish = (messages: readonly Message[]) => {
    const draft = watch.draft();
    for (const message of messages) draft.push(message);
    return draft.publish();
  };
  const reason = () =>
    watch.check().then(
      () => 'ok',
      async (error: Error) => {
        await new Promise(setImmediate);
        return error.message;
      },
    );
  return { state, publish, reason };
}

test('D1.21 the last append counts: red from one that failed to one that succeeded', async () => {
  const { state, publish, reason } = world();
  await publish(MESSAGES);
  assert.equal(await reason(), 'ok');
  state.publish = 'disk full';
  await assert.rejects(publish(MESSAGES), /disk full/);
  assert.equal(await reason(), 'disk full');
  assert.equal(await reason(), 'disk full');
  state.publish = '';
  await publish(MESSAGES);
  assert.equal(await reason(), 'ok');
  assert.equal(state.probes, 0);
});

test('D1.21 without appends a probe tells, at most one in 5 s, and turns red to green', async () => {
  const { state, publish, reason } = world();
  state.probe = 'no space';
  assert.equal(await reason(), 'no space');
  assert.equal(await reason(), 'no space');
  assert.equal(state.probes, 1);
  state.probe = '';
  state.now = 5000;
  assert.equal(await reason(), 'no space', 'told at once, while a probe is made');
  assert.equal(await reason(), 'ok');
  state.publish = 'disk full';
  await assert.rejects(publish(MESSAGES), /disk full/);
  state.now = 9999;
  assert.equal(await reason(), 'disk full');
  state.now = 10_000;
  assert.equal(await reason(), 'disk full');
  assert.equal(await reason(), 'ok');
  assert.equal(state.probes, 3);
});

test('D1.21 a stream that does not answer is red whatever its appends did', async () => {
  const { state, publish, reason } = world();
  await publish(MESSAGES);
  state.ping = 'no broker';
  assert.equal(await reason(), 'no broker');
});
