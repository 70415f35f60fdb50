import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { origins } from './origin.ts';

const request = (headers: Record<string, string>, remoteAddress = '127.0.0.1', more = {}) =>
  ({ headers, socket: { remoteAddress, ...more } }) as unknown as IncomingMessage;

test('D52.4 a request is safe over TLS, through a trusted proxy over https, or from this machine without a proxy', () => {
  const { isSafe } = origins(undefined, ['127.0.0.1', '10.0.0.0/8']);
  const forwarded = { 'x-forwarded-for': '192.0.2.1' };
  const https = { ...forwarded, 'x-forwarded-proto': 'https' };
  for (const [expected, ip, given] of [
    [true, '192.0.2.1', request({}, '192.0.2.1', { encrypted: true })],
    [true, '192.0.2.1', request(https)],
    [true, '192.0.2.1', request(https, '::ffff:10.1.2.3')],
    [true, '127.0.0.1', request({})],
    [true, '::1', request({}, '::1')],
    [true, '127.0.0.1', request({}, '::ffff:127.0.0.1')],
    [false, '192.0.2.1', request({}, '192.0.2.1')],
    [false, '192.0.2.1', request(https, '192.0.2.1')],
    [false, '192.0.2.1', request(https, '127.0.0.2')],
    [false, '192.0.2.1', request(forwarded)],
    [false, '192.0.2.1', request({ ...forwarded, 'x-forwarded-proto': 'http' })],
    [false, '192.0.2.1', request({ ...forwarded, 'x-forwarded-proto': 'https, http' })],
    [false, '127.0.0.1', request({ 'x-forwarded-for': '127.0.0.1' })],
    [false, '127.0.0.1', request({ via: '1.1 cache' })],
    [false, '', request({}, '')],
  ] as const) {
    assert.equal(isSafe(given, ip), expected, JSON.stringify([given.headers, given.socket.remoteAddress]));
  }
});

test('D52.4 the address in the script is BASE_URL or the Host, over https or of this machine, and means nothing to a shell', () => {
  const tls = (host: string) => request({ host }, '192.0.2.1', { encrypted: true });
  const of = (baseUrl: string | undefined, given: IncomingMessage) => origins(baseUrl, []).of(given);
  for (const [expected, baseUrl, given] of [
    ['https://weir.example.com', undefined, tls('weir.example.com')],
    ['https://[2001:db8::1]:8443', undefined, tls('[2001:db8::1]:8443')],
    ['http://127.0.0.1:8080', undefined, request({ host: '127.0.0.1:8080' })],
    ['http://[::1]:8080', undefined, request({ host: '[::1]:8080' })],
    ['https://weir.example.com/threats', 'https://weir.example.com/threats', request({ host: 'x;y' })],
    [undefined, undefined, request({ host: 'weir.example.com' })],
    [undefined, undefined, request({ host: 'localhost.example.com' })],
    [undefined, undefined, request({ host: '127.0.0.1.example.com' })],
    [undefined, 'http://weir.example.com', tls('weir.example.com')],
    ...["a'b", 'a"b', 'a$(id)', 'a`id`', 'a b', 'a\nb', 'a;b', 'a&b', 'a\\b', 'a/b@c', 'user@a', 'a?b', 'a#b', '', 'a:b', '-a', 'a%27'].map(
      (host) => [undefined, undefined, tls(host)] as const,
    ),
    [undefined, "https://weir.example.com/a'b", tls('a')],
    [undefined, 'https://weir.example.com/$(id)', tls('a')],
  ] as const) {
    assert.equal(of(baseUrl, given), expected, JSON.stringify([baseUrl, given.headers.host]));
  }
});
