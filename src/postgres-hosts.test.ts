import assert from 'node:assert/strict';
import { test } from 'node:test';
import { postgresHosts } from './postgres-hosts.ts';

test('D34.1 an address of PostgreSQL names one host or several, of which the one that takes writes is meant', () => {
  for (const one of [
    'postgres://weir:p%40ss@db/weir',
    'postgresql://db:5433/weir?sslmode=verify-full&sslrootcert=%2Fa.pem',
    'postgres:///weir?host=/run',
  ])
    assert.deepEqual(postgresHosts(one), [one]);
  assert.deepEqual(postgresHosts('postgres://weir:p%40ss@one:5432,[::1]:5433,three/weir?sslmode=require&target_session_attrs=read-write'), [
    'postgres://weir:p%40ss@one:5432/weir?sslmode=require',
    'postgres://weir:p%40ss@[::1]:5433/weir?sslmode=require',
    'postgres://weir:p%40ss@three/weir?sslmode=require',
  ]);
  assert.deepEqual(postgresHosts('postgres://one,two/weir?target_session_attrs=primary'), ['postgres://one/weir', 'postgres://two/weir']);
  for (const none of [
    'mysql://one/weir',
    'postgres://one,/weir',
    'postgres://one:x,two/weir',
    'postgres://one,two/weir?target_session_attrs=standby',
  ])
    assert.equal(postgresHosts(none), undefined, none);
});
