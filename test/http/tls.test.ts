/** weir over TLS: certificates, their renewal, and clients that show one. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { connect } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { useTls } from '../../src/runtime/tls.ts';
import { makeAuthority, makeCertificate } from '../support/certificates.ts';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { bearer } from '../support/http.ts';
import { needs } from '../support/programs.ts';
import { eventually, KEY, startWeir, type Weir } from '../support/weir.ts';

const SERVER = 'subjectAltName=DNS:localhost,IP:127.0.0.1';
const run = promisify(execFile);

describe('TLS', { skip: needs('openssl', 'curl') }, () => {
  const folder = temporaryFolder({ after });
  const at = (name: string) => join(folder, name);
  /** Puts a certificate and its key where the server looks for them. */
  const install = (name: string) => {
    for (const kind of ['pem', 'key']) copyFileSync(at(`${name}.${kind}`), at(`used/server.${kind}`));
  };
  const files = { TLS_CERT_FILE: at('used/server.pem'), TLS_KEY_FILE: at('used/server.key') };
  const settings = { BOOTSTRAP_API_KEY: KEY, FEED_REBUILD_SECONDS: '0', LOG_LEVEL: 'info' };
  let weir: Weir;
  let ca: Buffer;

  before(async () => {
    mkdirSync(at('used'));
    await makeAuthority(folder);
    ca = readFileSync(at('ca.pem'));
    await makeCertificate(folder, 'first', '/CN=localhost', SERVER);
    await makeCertificate(folder, 'second', '/CN=localhost', SERVER);
    await makeCertificate(folder, 'client', '/CN=sensor', 'extendedKeyUsage=clientAuth');
    install('first');
    weir = await startWeir({ ...settings, ...files, ...smallGeo(folder), DATA_DIR: at('data'), METRICS_TOKEN: 'metrics-token-123' });
  });
  after(() => weir.kill('SIGKILL'));

  /** The status and body that curl gets. */
  async function curl(url: string, ...args: string[]): Promise<string> {
    const { stdout } = await run('curl', ['-sS', '--max-time', '20', '--cacert', at('ca.pem'), '-w', '%{http_code}', ...args, url]);
    return stdout;
  }

  /** The serial number of the certificate that new connections see. */
  async function serial(): Promise<string> {
    const socket = connectTls({ port: Number(new URL(weir.url).port), host: '127.0.0.1', servername: 'localhost', ca });
    await once(socket, 'secureConnect');
    const { serialNumber } = socket.getPeerCertificate();
    socket.destroy();
    return serialNumber;
  }

  test('D51.14 weir-follow trusts the authority of SSL_CERT_FILE, and no other certificate', { skip: needs('python3') }, async () => {
    const follow = fileURLToPath(new URL('../../integrations/weir-follow', import.meta.url));
    const own = { WEIR_URL: weir.url, WEIR_API_KEY: KEY, WEIR_FOLLOW_STATE: at('state'), WEIR_FOLLOW_DRIVER: 'command' };
    const check = (trusted: NodeJS.ProcessEnv) =>
      run('python3', [follow, '--once', '--command', 'cat'], { env: { ...process.env, ...own, ...trusted } });
    assert.match((await check({ SSL_CERT_FILE: at('ca.pem') })).stderr, /Loaded \d+ networks?\n$/);
    await assert.rejects(check({}), /does not answer: .*certificate/);
  });

  test('D12.8 with a certificate the service speaks TLS: curl sends a signal and reads the feed, and again with its tag', async () => {
    assert.match(weir.url, /^https:\/\/127\.0\.0\.1:\d+$/);
    const key = ['-H', `authorization: Bearer ${KEY}`];
    const sent = await curl(`${weir.url}/v1/signal`, ...key, '-d', '[{"type":"access_rules","action":"block","ip":"8.8.4.4"}]');
    assert.equal(sent, '{"success":true,"message":"Processed 1 entries, 0 failed"}200');
    const feed = `${weir.url}/v1/threat/feeds`;
    await eventually(async () => assert.equal(await curl(feed, ...key), '8.8.4.4/32\n200'));
    assert.equal(await curl(feed, ...key, '--etag-save', at('etag')), '8.8.4.4/32\n200');
    assert.equal(await curl(feed, ...key, '--etag-compare', at('etag')), '304');
    assert.equal(await curl(`${weir.url}/healthz`), '{"status":"ok"}200');
    const metrics = await curl(`${weir.url}/metrics`, '-H', 'authorization: Bearer metrics-token-123');
    const [, ends] = /^weir_certificate_expiry_timestamp_seconds (\d+)$/m.exec(metrics) ?? assert.fail(metrics);
    assert.ok(Math.abs(Number(ends) - Date.now() / 1000 - 2 * 86_400) < 3600);
  });

  test('D12.9 who speaks plain HTTP on the port, or no TLS at all, gets a closed connection and not a byte of HTTP', async () => {
    for (const bytes of ['GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n', 'x'.repeat(10_000)]) {
      const socket = connect(Number(new URL(weir.url).port), '127.0.0.1', () => socket.write(bytes));
      let got = '';
      socket.setEncoding('latin1').on('data', (text: string) => {
        got += text;
      });
      const [error] = await Promise.race([once(socket, 'close').then(() => [undefined]), once(socket, 'error')]);
      assert.equal(error, undefined, bytes.slice(0, 10));
      assert.doesNotMatch(got, /HTTP/);
    }
    assert.equal(await curl(`${weir.url}/healthz`), '{"status":"ok"}200');
    assert.doesNotMatch(weir.output().stderr, /"level":"(error|fatal)"/);
  });

  test('D12.10 changed files are read again, also with SIGHUP: open connections go on, new ones see the new certificate; broken files change nothing', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1, ca });
    const sockets = new Set<unknown>();
    const get = () =>
      new Promise<number>((resolve, reject) => {
        const sent = request(`${weir.url}/healthz`, { agent, servername: 'localhost' }, (response) => {
          sockets.add(response.socket);
          response.resume().on('end', () => resolve(response.statusCode!));
        });
        sent.on('error', reject).end();
      });
    assert.equal(await get(), 200);
    const before = await serial();
    install('second');
    await eventually(async () => assert.notEqual(await serial(), before));
    await eventually(() => assert.match(weir.output().stderr, /the certificate was reloaded; it expires on \d{4}-\d\d-\d\d/));
    assert.equal(await get(), 200);

    const second = await serial();
    copyFileSync(at('first.pem'), files.TLS_CERT_FILE);
    weir.child.kill('SIGHUP');
    await eventually(() =>
      assert.match(weir.output().stderr, /is not the key of the certificate in \S+; the previous certificate stays in use/),
    );
    assert.equal(await serial(), second);
    copyFileSync(at('first.key'), files.TLS_KEY_FILE);
    weir.child.kill('SIGHUP');
    await eventually(async () => assert.equal(await serial(), before));
    assert.equal(await get(), 200);
    assert.equal(sockets.size, 1, 'one connection through all of it');
    agent.destroy();
  });

  test('D12.11 with TLS_CLIENT_CA_FILE only clients that show a certificate of that authority get in, and still need a key', async (t) => {
    const strict = await startWeir({
      ...settings,
      TLS_CERT_FILE: at('second.pem'),
      TLS_KEY_FILE: at('second.key'),
      TLS_CLIENT_CA_FILE: at('ca.pem'),
      ...smallGeo(folder),
      DATA_DIR: at('strict'),
    });
    t.after(() => strict.kill('SIGKILL'));
    const feed = `${strict.url}/v1/threat/feeds`;
    const certificate = ['--cert', at('client.pem'), '--key', at('client.key')];
    await assert.rejects(curl(feed, '-H', `authorization: ${bearer(KEY).authorization}`), /alert|certificate|reset|SSL/i);
    assert.match(await curl(feed, ...certificate), /401$/);
    assert.equal(await curl(feed, ...certificate, '-H', `authorization: Bearer ${KEY}`), '200');
    assert.equal(await strict.kill('SIGTERM'), 0);
  });

  test('D12.13 only suites with forward secrecy and authenticated encryption, with certificates of both kinds, also after a renewal', async (t) => {
    await run(
      'openssl',
      ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost', '-keyout', 'rsa.key', '-out', 'rsa.pem'],
      { cwd: folder },
    );
    const rsaFiles = { TLS_CERT_FILE: at('rsa.pem'), TLS_KEY_FILE: at('rsa.key') };
    const rsa = await startWeir({ ...settings, ...rsaFiles, ...smallGeo(folder), DATA_DIR: at('rsa') });
    t.after(() => rsa.kill('SIGKILL'));
    /** What openssl says of a connection, or undefined where there is none. */
    async function speaks(url: string, ...args: string[]): Promise<string | undefined> {
      const client = spawn('openssl', ['s_client', '-connect', new URL(url).host, ...args], { stdio: ['pipe', 'pipe', 'pipe'] });
      let said = '';
      for (const stream of [client.stdout, client.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (said += text));
      client.stdin.end();
      const [code] = await once(client, 'close');
      return code === 0 && !/Cipher is \(NONE\)/.test(said) ? said : undefined;
    }
    const weak = [
      'AES128-SHA',
      'AES256-SHA256',
      'AES128-GCM-SHA256',
      'AES256-GCM-SHA384',
      'ECDHE-RSA-AES128-SHA',
      'ECDHE-RSA-AES256-SHA384',
      'ECDHE-RSA-AES128-SHA256',
      'ECDHE-ECDSA-AES128-SHA',
      'ECDHE-ECDSA-AES256-SHA384',
      'DHE-RSA-AES128-GCM-SHA256',
      'DHE-RSA-AES256-SHA',
      'CAMELLIA128-SHA',
      'AES128-CCM',
    ];
    const strong = ['AES128-GCM-SHA256', 'AES256-GCM-SHA384', 'CHACHA20-POLY1305'];
    const servers = [
      [weir.url, 'ECDSA'],
      [rsa.url, 'RSA'],
    ] as const;
    for (const [url, kind] of servers) {
      for (const suite of weak)
        assert.equal(await speaks(url, '-tls1_2', '-cipher', `${suite}:@SECLEVEL=0`), undefined, `${kind} ${suite}`);
      for (const version of ['-tls1', '-tls1_1'])
        assert.equal(await speaks(url, version, '-cipher', 'ALL:@SECLEVEL=0'), undefined, version);
      for (const suite of strong)
        assert.match((await speaks(url, '-tls1_2', '-cipher', `ECDHE-${kind}-${suite}`)) ?? '', /Cipher is ECDHE/, suite);
      for (const suite of ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256']) {
        assert.match((await speaks(url, '-tls1_3', '-ciphersuites', suite)) ?? '', new RegExp(`Cipher is ${suite}`));
      }
    }
    rsa.child.kill('SIGHUP');
    await eventually(() => assert.match(rsa.output().stderr, /the certificate was reloaded/));
    assert.equal(await speaks(rsa.url, '-tls1_2', '-cipher', 'ECDHE-RSA-AES128-SHA:AES128-SHA:@SECLEVEL=0'), undefined, 'after a renewal');
  });

  test('D12.13 a client that renegotiates is refused', async () => {
    const client = spawn('openssl', ['s_client', '-tls1_2', '-connect', new URL(weir.url).host], { stdio: ['pipe', 'pipe', 'pipe'] });
    let said = '';
    for (const stream of [client.stdout, client.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (said += text));
    await eventually(() => assert.match(said, /Verify return code/));
    client.stdin.write('R\n');
    await eventually(() => assert.match(said, /RENEGOTIATING/));
    await eventually(() => assert.match(said, /:no renegotiation:/));
    client.kill();
    assert.equal(await curl(`${weir.url}/healthz`), '{"status":"ok"}200');
  });

  test('D12.13 every answer over TLS has Strict-Transport-Security, also of what is no HTTP', async () => {
    const key = `authorization: Bearer ${KEY}`;
    for (const args of [
      [`${weir.url}/healthz`],
      [`${weir.url}/nowhere`],
      [`${weir.url}/v1/threat/feeds`],
      [`${weir.url}/v1/threat/feeds`, '-H', key],
      [`${weir.url}/console/`],
      [`${weir.url}/healthz`, '-H', 'Bad Name: x'],
    ]) {
      const { stdout } = await run('curl', ['-sS', '-o', '/dev/null', '-D', '-', '--cacert', at('ca.pem'), ...args]);
      assert.equal(stdout.match(/^strict-transport-security: max-age=31536000\r$/gim)?.length, 1, `${args} ${stdout}`);
    }
  });

  test('D12.8 files that are missing, broken, or do not belong together: every fault at the start, a readable line each', () => {
    writeFileSync(at('broken.pem'), 'no certificate');
    const faults = (tlsCertFile: string, tlsKeyFile: string, tlsClientCaFile?: string) => {
      try {
        useTls(
          { tlsCertFile: at(tlsCertFile), tlsKeyFile: at(tlsKeyFile), tlsClientCaFile: tlsClientCaFile && at(tlsClientCaFile) },
          () => {},
        )?.close();
        return [];
      } catch (error) {
        assert.equal((error as { code?: string }).code, 'USAGE');
        return (error as Error).message.split('\n');
      }
    };
    assert.deepEqual(faults('first.pem', 'first.key', 'ca.pem'), []);
    const [cert, key, authority, ...more] = faults('none.pem', 'broken.pem', 'broken.pem');
    assert.match(cert!, /^TLS_CERT_FILE: \S+none\.pem cannot be read: ENOENT/);
    assert.match(key!, /^TLS_KEY_FILE: \S+broken\.pem holds no private key in PEM without a passphrase: /);
    assert.match(authority!, /^TLS_CLIENT_CA_FILE: \S+broken\.pem holds no certificate in PEM: /);
    assert.deepEqual(more, []);
    assert.match(
      faults('first.pem', 'second.key').join(),
      /^TLS_KEY_FILE: \S+second\.key is not the key of the certificate in \S+first\.pem$/,
    );
  });
});
