import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Stream } from '../ports/stream.ts';
import { notedAppends } from './appenders.ts';
import { bufferedDraft } from './buffered-draft.ts';

/** A stream of one partition, and how far it has landed. */
function world() {
  const log = { end: 0, landed: 0, reads: 0 };
  const publish: Stream['publish'] = async ({ length }) => {
    log.end += length;
  };
  const stream: Partial<Stream> = {
    id: async () => 'log',
    partitions: async () => 1,
    bounds: async () => ({ start: 0, end: log.end }),
    publish,
    draft: () => bufferedDraft(publish),
  };
  const position = async () => {
    log.reads += 1;
    return log.landed;
  };
  return { log, ...notedAppends(stream as Stream, { position }) };
}

const messageOf = (key: string) => ({ key, headers: {}, value: '{}' });

test('D5.13 who has put something on the stream waits until that has landed; others do not wait for it', async () => {
  const { log, stream, landed } = world();
  await landed('own');
  const draft = stream.draft();
  draft.push(messageOf('own'));
  await draft.publish();
  await stream.publish([messageOf('own')]);
  let own = 'waits';
  const waiting = landed('own').then(() => {
    own = 'landed';
  });
  await landed('other');
  assert.equal(own, 'waits');
  log.landed = 2;
  await waiting;
  await stream.publish([messageOf('third')]);
  await landed('own');
  assert.equal(log.landed, 2, 'what others send later is not waited for');
});

test('D5.13 a process that has just begun waits for all that was sent before it', async () => {
  const { log, landed } = world();
  log.end = 1;
  let first = 'waits';
  const waiting = landed('own').then(() => {
    first = 'landed';
  });
  await new Promise((resolve) => setTimeout(resolve, 60));
  assert.equal(first, 'waits');
  log.landed = 1;
  await waiting;
});

test('D36.11 hundreds that wait for landing look together how far it is', async () => {
  const { log, untilLanded } = world();
  log.end = 3;
  const answers = Array.from({ length: 300 }, () => untilLanded());
  await new Promise((resolve) => setTimeout(resolve, 30));
  assert.ok(log.reads > 1 && log.reads < 30, `${log.reads} reads`);
  log.landed = 3;
  assert.deepEqual(new Set(await Promise.all(answers)), new Set([0]));
});
