import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { clientAddress } from './source.ts';

const request = (remoteAddress: string, forwarded?: string) =>
  ({ socket: { remoteAddress }, headers: { 'x-forwarded-for': forwarded } }) as unknown as IncomingMessage;

test('D16.1 the address of a client: of the connection, or what proxies that are trusted say', () => {
  const alone = clientAddress([]);
  assert.equal(alone(request('::ffff:192.0.2.1', '203.0.113.9')), '192.0.2.1');
  assert.equal(alone(request('2001:db8::1')), '2001:db8::1');
  const behind = clientAddress(['10.0.0.0/8', '::1']);
  assert.equal(behind(request('10.0.0.1', '203.0.113.9, 198.51.100.7, 10.2.3.4')), '198.51.100.7');
  assert.equal(behind(request('::1', '10.0.0.9')), '10.0.0.9', 'all of them are proxies');
  assert.equal(behind(request('192.0.2.1', '203.0.113.9')), '192.0.2.1', 'anybody can send the header');
  assert.equal(behind(request('::ffff:10.0.0.1', 'unknown')), '10.0.0.1');
  assert.equal(behind(request('10.0.0.1')), '10.0.0.1');
});
