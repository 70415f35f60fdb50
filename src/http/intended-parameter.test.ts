import assert from 'node:assert/strict';
import { test } from 'node:test';
import { intendedParameter } from './intended-parameter.ts';

const FEED = ['format', 'family', 'action', 'checksum'];
const SIGNAL = ['list', 'dry_run'];

test('D5.20 one character added, left out or replaced, two neighbours exchanged, and letter case are near misses', () => {
  for (const name of ['actions', 'aaction', 'acction', 'ction', 'acton', 'actio', 'bction', 'acsion', 'actiom', 'actoin', 'caction']) {
    assert.equal(intendedParameter(name, FEED), 'action', name);
  }
  for (const name of ['ACTION', 'Action', 'ACTOIN', 'ａction', 'ac\u200btion']) assert.equal(intendedParameter(name, FEED), 'action', name);
});

test('D42.1 what is left of a known name without marks, encoding and values, its beginning, and the words of others name it', () => {
  const intended: Record<string, string[]> = {
    action: ['amp;action', 'amp;amp;action', '#38;action', '&action', '?action', ' action', 'action ', '\naction', 'action=allow'],
    family: [
      'family[]',
      'family[0]',
      'family%5B%5D',
      '%66amily',
      '%2566amily',
      'family%3Dv4',
      'family%253Dv4',
      'filter[family]',
      'fam',
      'fami',
    ],
    format: ['form', 'for', 'amp;form', 'x=1&format=plain', 'amp;fromat', 'format:plain', 'FOR', 'query.format'],
    checksum: ['che', 'checksum.', 'check_sum', 'check-sum', 'amp;checksum=md5'],
  };
  for (const [known, names] of Object.entries(intended)) for (const name of names) assert.equal(intendedParameter(name, FEED), known, name);
  const words = ['dryRun', 'DRY-RUN', 'dry.run', 'dry run', 'dry', 'preview', 'Preview[]', 'amp;preview', 'test', 'validate', 'dry_run=1'];
  for (const name of words) assert.equal(intendedParameter(name, SIGNAL), 'dry_run', name);
  for (const name of ['list_id', 'feed', 'listId', 'lis', 'lists']) assert.equal(intendedParameter(name, SIGNAL), 'list', name);
  assert.equal(intendedParameter('dry_run', ['file', 'preview']), 'preview');
  assert.equal(intendedParameter('purpose', FEED), 'action');
});

test('D42.1 what caches, devices and trackers append names nothing of ours', () => {
  const foreign =
    '_ t ts cb v tr n s nocache nonce rand key token api_key limit page list type ip ipv4only ipv6only md5 sha256 fmt fa ac direction acl ' +
    'auth device fw1 serial version vdom vsys utm_source utm_campaign fbclid gclid max_entries confidence severity plaintext startup scopes';
  for (const name of ['', '%', '[]', '=', 'amp;', 'x=list', ...foreign.split(' ')])
    assert.equal(intendedParameter(name, FEED), undefined, name);
  for (const name of ['a', 'act', 'axctionx', 'reaction', 'caitno', 'actnoi']) {
    assert.equal(intendedParameter(name, ['action']) === undefined, name !== 'act', name);
  }
  for (const name of ['source', 'listing', '_', 'p', 'id', 'i', 'zip'])
    assert.equal(intendedParameter(name, [...SIGNAL, 'ip']), undefined, name);
  for (const name of ['IP', 'amp;ip', 'ip[]']) assert.equal(intendedParameter(name, ['ip']), 'ip', name);
});
