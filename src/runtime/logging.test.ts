import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from './logging.ts';

test('D2.2, D16.6 a secret that the operator has chosen is in no line, however JSON writes it', () => {
  const lines: string[] = [];
  const secrets = ['correct-horse', 'quo"te\\d$&1'];
  const log = createLogger('info', (line) => void lines.push(line), secrets);
  log.info({ requestId: secrets[0], agent: `curl ${secrets[1]}` }, `asked with ${secrets[1]} and ${secrets[0]}`);
  const [line] = lines.map((each) => JSON.parse(each));
  assert.deepEqual([line.requestId, line.agent, line.msg], ['[key]', 'curl [key]', 'asked with [key] and [key]']);
});
