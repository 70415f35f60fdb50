/** The files of `integrations/` with the programs that they are for, against a running weir. */
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parse as parseYaml } from 'yaml';
import { commandJson, commandText } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { freePort } from '../support/http.ts';
import { locate, needs } from '../support/programs.ts';
import { eventually, KEY, MAIN, startWeir, testEnvironment, type Weir } from '../support/weir.ts';

const FILES = fileURLToPath(new URL('../../integrations/', import.meta.url));
const run = promisify(execFile);

interface Rule {
  readonly target: string;
  readonly expires_at: string;
  readonly reason: string | null;
  readonly labels: Record<string, unknown> | null;
}

suite('integrations', () => {
  const folder = temporaryFolder({ after });
  const settings = { ...smallGeo(folder), DATA_DIR: join(folder, 'data'), BOOTSTRAP_API_KEY: KEY };
  let weir: Weir;
  before(async () => {
    weir = await startWeir(settings);
  });
  after(() => weir.kill('SIGKILL'));

  /** A list of its own. */
  const makeList = (name: string) => commandText(['list', 'create', name, '--workspace', 'default'], settings);
  const rules = (list: string) => commandJson<Rule[]>(['rule', 'ls', '--workspace', 'default', '--list', list], settings);
  const blocked = async (list: string) => (await rules(list)).map(({ target }) => target).sort();
  const lives = ({ expires_at }: Rule, seconds: number) =>
    assert.ok(Math.abs(Date.parse(expires_at) - Date.now() - seconds * 1000) < 30_000, expires_at);
  /** Ends a program, and waits until it has. */
  const end = async (child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM') => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  };

  test('D66.1 D66.2 addresses of OCSF and ECS events are blocked by the lines of the page, and by what Vector, Fluent Bit and Logstash send', async () => {
    const page = readFileSync(join(FILES, '../docs/events.md'), 'utf8');
    const [finding, login, alert] = page.matchAll(/\| `(\{.*\})` \|/g).map(([, event]) => JSON.parse(event!));
    const other = (event: object, changes: object) => JSON.stringify({ ...event, ...changes });
    const events = {
      findings: [JSON.stringify(finding)],
      logins: [JSON.stringify(login), other(login, { status_id: 1, src_endpoint: { ip: '198.51.100.18' } })],
      alerts: [JSON.stringify(alert), other(alert, { event: { kind: 'event' }, source: { ip: '198.51.100.19' } })],
    };
    await makeList('events');
    for (const [name, lines] of Object.entries(events)) {
      const file = join(folder, `${name}.ndjson`);
      writeFileSync(file, lines.map((line) => `${line}\n`).join(''));
      const [line] = page.match(new RegExp(`^\\./weir send ${name}\\.ndjson .*$`, 'm'))!;
      const options = line.split(' --path ')[1]!.replaceAll("'", '').split(' ');
      await commandText(['send', file, '--url', weir.url, '--list', 'events', '--path', ...options], { ...settings, WEIR_API_KEY: KEY });
    }
    // Fluent Bit and Logstash may add members of their own.
    const sent = ['198.51.100.20', '198.51.100.21'].map((ip) => ({
      type: 'access_rules',
      action: 'block',
      ip,
      '@version': '1',
      tags: ['x'],
    }));
    const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
    const answer = await fetch(`${weir.url}/v1/signal?list=events`, { method: 'POST', headers, body: JSON.stringify(sent) });
    assert.equal(answer.status, 200);
    const wanted = ['198.51.100.20', '198.51.100.21', '198.51.100.7', '198.51.100.8', '198.51.100.9'].map((ip) => `${ip}/32`);
    await eventually(async () =>
      assert.deepEqual(
        (await blocked('events')).map((each) => each.replace(/(?<!\/\d+)$/, '/32')),
        wanted,
      ),
    );
    const feed = await fetch(`${weir.url}/v1/threat/feeds/events`, { headers });
    assert.equal((await feed.text()).trim().split('\n').length, 3);
    for (const [, yaml] of page.matchAll(/```yaml\n(.*?)```/gs)) assert.ok(parseYaml(yaml!));
  });

  suite('fail2ban', { skip: needs('fail2ban-server', 'curl') }, () => {
    /** A server with the action as it is, one jail, and files of its own. */
    const prepare = (t: TestContext, url = weir.url) => {
      const root = temporaryFolder(t);
      for (const name of ['filter.d', 'action.d']) mkdirSync(join(root, name));
      for (const name of ['weir.conf', 'weir.sh']) copyFileSync(join(FILES, 'fail2ban/action.d', name), join(root, 'action.d', name));
      writeFileSync(join(root, 'weir.header'), `Authorization: Bearer ${KEY}\n`);
      writeFileSync(join(root, 'app.log'), '');
      writeFileSync(join(root, 'filter.d/app.conf'), '[Definition]\nfailregex = login failed from <HOST>$\n');
      const files = ['socket', 'pidfile', 'dbfile'].map((name) => `${name} = ${root}/${name}`);
      writeFileSync(join(root, 'fail2ban.conf'), ['[Definition]', 'loglevel = INFO', `logtarget = ${root}/log`, ...files].join('\n'));
      const own = `script="${root}/action.d/weir.sh", queue="${root}/weir.queue"`;
      const action = `weir[url="${url}", header="${root}/weir.header", query="?list=fail2ban", ${own}]`;
      writeFileSync(
        join(root, 'jail.conf'),
        `[app]\nenabled = true\nfilter = app\nbackend = polling\nlogpath = ${root}/app.log\nmaxretry = 2\nbantime = 1h\nusedns = no\naction = ${action}\n`,
      );
      const start = async () => {
        const server = spawn(locate('fail2ban-server')!, ['-c', root, '-f', 'start'], { stdio: 'ignore' });
        t.after(() => end(server, 'SIGKILL'));
        await eventually(() => run('fail2ban-client', ['-c', root, 'ping']));
        return server;
      };
      const fail = (address: string) => {
        const at = new Date().toISOString().replace('T', ' ').slice(0, 19);
        appendFileSync(join(root, 'app.log'), `${at} login failed from ${address}\n`.repeat(2));
      };
      return { root, start, fail, log: () => readFileSync(join(root, 'log'), 'utf8') };
    };

    test('D11.6 fail2ban: a ban is a rule, also after a restart with the time that is left, and an unban ends it', async (t) => {
      await makeList('fail2ban');
      const { root, start, fail, log } = prepare(t);
      const server = await start();
      fail('192.0.2.7');
      fail('2001:db8::7');
      await eventually(async () => assert.deepEqual(await blocked('fail2ban'), ['192.0.2.7', '2001:db8::7'], log()));
      const banned = await rules('fail2ban');
      for (const rule of banned) {
        lives(rule, 3600);
        assert.deepEqual([rule.reason, rule.labels], ['fail2ban app', { source: 'fail2ban', jail: 'app' }]);
      }
      await end(server);
      await eventually(async () => assert.deepEqual(await blocked('fail2ban'), [], log()));
      await start();
      await eventually(async () => assert.deepEqual(await blocked('fail2ban'), ['192.0.2.7', '2001:db8::7'], log()));
      for (const rule of await rules('fail2ban')) {
        const first = banned.find(({ target }) => target === rule.target)!;
        assert.ok(Date.parse(rule.expires_at) - Date.parse(first.expires_at) <= 2000, `${rule.expires_at} after ${first.expires_at}`);
      }
      await run('fail2ban-client', ['-c', root, 'set', 'app', 'unbanip', '192.0.2.7']);
      await eventually(async () => assert.deepEqual(await blocked('fail2ban'), ['2001:db8::7'], log()));
      assert.doesNotMatch(log(), /ERROR/);
    });

    test('D11.12 fail2ban: bans and unbans while weir is away are sent in their order when it is back, and hold nothing up', async (t) => {
      const away = await awayAndBack(t);
      await away.start();
      await away.command(['list', 'create', 'fail2ban', '--workspace', 'default']);
      const { root, start, fail, log } = prepare(t, away.url);
      await start();
      fail('192.0.2.20');
      await eventually(async () => assert.deepEqual(await away.blocked('fail2ban'), ['192.0.2.20'], log()));
      await away.stop();
      const stoppedAt = Date.now();
      for (const address of ['192.0.2.21', '192.0.2.22', '192.0.2.23', '192.0.2.24']) fail(address);
      await eventually(() => assert.equal(log().match(/NOTICE .* Ban /g)?.length, 5, log()));
      await run('fail2ban-client', ['-c', root, 'set', 'app', 'unbanip', '192.0.2.20']);
      await run('fail2ban-client', ['-c', root, 'set', 'app', 'unbanip', '192.0.2.22']);
      await eventually(() => assert.equal(log().match(/NOTICE .* Unban /g)?.length, 2, log()));
      assert.ok(Date.now() - stoppedAt < 30_000, 'nothing waits for weir');
      assert.match(log(), /weir is away: this and what follows is sent when it is back/);
      await away.start();
      await eventually(async () => assert.deepEqual(await away.blocked('fail2ban'), ['192.0.2.21', '192.0.2.23', '192.0.2.24'], log()));
    });
  });

  /** A weir of its own that can be away for as long as a test wants, on a port that stays. */
  const awayAndBack = async (t: TestContext) => {
    const home = temporaryFolder(t);
    const port = String(await freePort());
    const own = { ...smallGeo(home), DATA_DIR: join(home, 'data'), BOOTSTRAP_API_KEY: KEY, PORT: port };
    const ofList = (list: string) => commandJson<Rule[]>(['rule', 'ls', '--workspace', 'default', '--list', list], own);
    let running: Weir | undefined;
    t.after(() => running?.kill('SIGKILL'));
    return {
      url: `http://127.0.0.1:${port}`,
      async start() {
        running = await startWeir(own);
      },
      stop: () => running!.kill('SIGTERM'),
      command: (args: string[]) => commandText(args, own),
      rules: ofList,
      blocked: async (list: string) => (await ofList(list)).map(({ target }) => target).sort(),
    };
  };

  // CrowdSec runs plugins that root owns only.
  suite('CrowdSec', { skip: process.getuid?.() === 0 ? needs('crowdsec') : 'needs root' }, () => {
    test('D11.6, D11.12 CrowdSec: decisions of every scope are rules with their own time, also those of a time when weir was away', async (t) => {
      const away = await awayAndBack(t);
      await away.start();
      await away.command(['list', 'create', 'crowdsec', '--workspace', 'default']);
      const root = temporaryFolder(t);
      const port = await freePort();
      chmodSync(root, 0o755);
      for (const name of ['notifications', 'plugins']) mkdirSync(join(root, name), { mode: 0o755 });
      const plugin = join(root, 'plugins/notification-http');
      copyFileSync(join(locate('crowdsec')!, '../../lib/crowdsec/plugins/http'), plugin);
      chmodSync(plugin, 0o755);
      const template = readFileSync(join(FILES, 'crowdsec/weir.yaml'), 'utf8')
        .replace('http://127.0.0.1:8080/v2/signal', `${away.url}/v2/signal?list=crowdsec`)
        .replace('Bearer KEY', `Bearer ${KEY}`);
      writeFileSync(join(root, 'notifications/weir.yaml'), template, { mode: 0o600 });
      const paths = {
        config_dir: root,
        data_dir: root,
        hub_dir: root,
        notification_dir: `${root}/notifications`,
        plugin_dir: `${root}/plugins`,
      };
      const files = { simulation_path: `${root}/simulation.yaml`, index_path: `${root}/index.json` };
      writeFileSync(files.simulation_path, 'simulation: false\n');
      writeFileSync(files.index_path, '{}');
      writeFileSync(
        join(root, 'profiles.yaml'),
        `name: all\nfilters: ["Alert.GetScope() != ''"]\ndecisions: []\nnotifications: [weir_default]\non_success: break\n`,
      );
      // JSON is YAML.
      const config = {
        common: { daemonize: false, log_media: 'stdout', log_level: 'info', working_dir: root },
        config_paths: { ...paths, ...files },
        cscli: { output: 'json' },
        db_config: { type: 'sqlite', db_path: `${root}/crowdsec.db` },
        plugin_config: { user: 'nobody', group: 'nogroup' },
        api: {
          client: { credentials_path: `${root}/credentials.yaml` },
          server: { listen_uri: `127.0.0.1:${port}`, profiles_path: `${root}/profiles.yaml` },
        },
        prometheus: { enabled: false },
      };
      writeFileSync(join(root, 'config.yaml'), JSON.stringify(config));
      const cscli = (...args: string[]) => run(join(locate('crowdsec')!, '../cscli'), ['-c', join(root, 'config.yaml'), ...args]);
      await cscli('machines', 'add', 'test', '--auto', '-f', join(root, 'credentials.yaml'));
      const server = spawn(locate('crowdsec')!, ['-c', join(root, 'config.yaml'), '-no-cs'], { stdio: ['ignore', 'pipe', 'pipe'] });
      t.after(() => end(server, 'SIGKILL'));
      let log = '';
      for (const output of [server.stdout, server.stderr]) output.setEncoding('utf8').on('data', (text: string) => (log += text));
      await eventually(() => assert.match(log, /Local API listening/, log));
      const add = (...args: string[]) => cscli('decisions', 'add', ...args);
      await add('--ip', '192.0.2.8', '--duration', '90m', '--reason', 'by "hand"');
      await add('--range', '198.51.100.0/28', '--duration', '2h');
      await add('--scope', 'Country', '--value', 'NL', '--duration', '2h');
      await add('--scope', 'AS', '--value', '64500', '--duration', '2h');
      await add('--ip', '192.0.2.9', '--type', 'captcha');
      await add('--scope', 'username', '--value', 'root');
      await eventually(async () =>
        assert.deepEqual(await away.blocked('crowdsec'), ['192.0.2.8', '198.51.100.0/28', 'AS64500', 'NL'], log),
      );
      const [first, ...others] = await away.rules('crowdsec');
      lives(first, 5400);
      assert.deepEqual([first.reason, first.labels], ['by "hand"', { source: 'crowdsec', machine: 'test' }]);
      for (const rule of others) lives(rule, 7200);
      // Tried until weir is back; three tries, as CrowdSec does unless told otherwise, would be over.
      await away.stop();
      await add('--ip', '192.0.2.30', '--duration', '2h');
      await eventually(() => assert.equal(log.match(/connection refused/g)?.length, 4, log));
      await away.start();
      await eventually(async () => assert.ok((await away.blocked('crowdsec')).includes('192.0.2.30'), log));
    });
  });

  suite('Wazuh', { skip: needs('python3') }, () => {
    /** What Wazuh 4 writes to an active response, as its documentation shows it; Debian has no package of it. */
    const message = (command: string, srcip: string) =>
      `${JSON.stringify({
        version: 1,
        origin: { name: 'worker01', module: 'wazuh-execd' },
        command,
        parameters: {
          extra_args: [],
          alert: {
            timestamp: '2026-11-20T10:00:00.000+0000',
            rule: { level: 10, description: 'sshd: brute force', id: '5712' },
            agent: { id: '001', name: 'web' },
            data: { srcip, srcuser: 'root' },
          },
          program: 'active-response/bin/weir',
        },
      })}\n`;

    test('D11.12 Wazuh: what comes while weir is away is sent in its order when it is back', async (t) => {
      const away = await awayAndBack(t);
      const root = temporaryFolder(t);
      const [conf, log, queue] = ['weir.conf', 'log', 'queue'].map((name) => join(root, name));
      writeFileSync(conf, `URL=${away.url}\nKEY=${KEY}\n`);
      const respond = async (command: string, srcip: string) => {
        const child = spawn(locate('python3')!, [join(FILES, 'wazuh/weir')], {
          env: { ...process.env, WEIR_CONF: conf, WEIR_LOG: log, WEIR_QUEUE: queue },
          stdio: ['pipe', 'pipe', 'inherit'],
        });
        child.stdin.end(message(command, srcip));
        child.stdout.destroy();
        return ((await once(child, 'exit')) as [number])[0];
      };
      assert.equal(await respond('add', '192.0.2.30'), 1);
      for (const address of ['192.0.2.31', '192.0.2.32']) assert.equal(await respond('add', address), 0);
      assert.equal(await respond('delete', '192.0.2.31'), 0);
      assert.match(readFileSync(log, 'utf8'), /weir is away: this and what follows is sent when it is back \(.*refused.*\)\n$/);
      await away.start();
      await eventually(async () => assert.deepEqual(await away.blocked('default'), ['192.0.2.30', '192.0.2.32']));
      await eventually(() => assert.equal(readFileSync(queue, 'utf8'), ''));
      // What waits since before a reboot, of which the first is refused, goes with the next alert.
      const entry = (ip: string) => ({ kind: 'access_rule', op: 'upsert', expires_in: 3600, rule: { target: { ip } } });
      const before = Array.from({ length: 250 }, (_, n) => JSON.stringify(entry(n === 0 ? 'refused' : `198.51.100.${n}`)));
      writeFileSync(queue, before.map((line) => `${line}\n`).join(''));
      assert.equal(await respond('add', '192.0.2.33'), 1);
      await eventually(async () => assert.equal((await away.blocked('default')).length, 2 + 249 + 1));
    });

    test('D11.6 Wazuh: add makes a rule, delete ends it; what goes wrong is in the log, and exit code 1', async (t) => {
      await makeList('wazuh');
      const root = temporaryFolder(t);
      const [conf, log, queue] = ['weir.conf', 'log', 'queue'].map((name) => join(root, name));
      writeFileSync(conf, `# weir\nURL=${weir.url}\nKEY=${KEY}\nLIST=wazuh\nEXPIRES_IN=7200\n`);
      /** As Wazuh does: with a timeout it answers the address with a word, without one it closes both pipes. */
      const respond = async (command: string, srcip: string, answer?: 'continue' | 'abort'): Promise<number> => {
        const child = spawn(locate('python3')!, [join(FILES, 'wazuh/weir')], {
          env: { ...process.env, WEIR_CONF: conf, WEIR_LOG: log, WEIR_QUEUE: queue },
          stdio: ['pipe', 'pipe', 'inherit'],
        });
        const ended = once(child, 'exit');
        child.stdin.write(message(command, srcip));
        if (answer === undefined) {
          child.stdin.end();
          child.stdout.destroy();
        } else {
          const [bytes] = (await once(child.stdout, 'data')) as [Buffer];
          const { command: asked, parameters } = JSON.parse(bytes.toString()) as { command: string; parameters: object };
          assert.deepEqual([asked, parameters], ['check_keys', { keys: [srcip] }]);
          child.stdin.write(
            `${JSON.stringify({ version: 1, origin: { name: '', module: 'wazuh-execd' }, command: answer, parameters: {} })}\n`,
          );
        }
        const [code] = (await ended) as [number];
        return code;
      };
      assert.equal(await respond('add', '192.0.2.11', 'abort'), 0);
      assert.equal(await respond('add', '192.0.2.10', 'continue'), 0);
      const [rule] = await eventually(async () => {
        const found = await rules('wazuh');
        assert.deepEqual(
          found.map(({ target }) => target),
          ['192.0.2.10'],
        );
        return found;
      });
      lives(rule, 7200);
      assert.deepEqual([rule.reason, rule.labels], ['sshd: brute force', { source: 'wazuh', rule: '5712', agent: 'web' }]);
      assert.equal(await respond('add', '192.0.2.12'), 0);
      await eventually(async () => assert.deepEqual(await blocked('wazuh'), ['192.0.2.10', '192.0.2.12']));
      for (const address of ['192.0.2.10', '192.0.2.12']) assert.equal(await respond('delete', address), 0);
      await eventually(async () => assert.deepEqual(await blocked('wazuh'), []));
      assert.equal(await respond('add', 'no address'), 1);
      assert.match(
        readFileSync(log, 'utf8'),
        /^\S+ \S+ active-response\/bin\/weir: 'no address' does not appear to be an IPv4 or IPv6 address\n$/,
      );
    });
  });

  test('D11.6, D11.12 Suricata: the command of the unit follows eve.json and blocks the sources of alerts as they come, also those of a time when weir was away', async (t) => {
    const away = await awayAndBack(t);
    await away.start();
    const root = temporaryFolder(t);
    const eve = join(root, 'eve.json');
    writeFileSync(eve, '');
    const unit = readFileSync(join(FILES, 'suricata/weir-suricata.service'), 'utf8');
    const [, shell] = /^ExecStart=\/bin\/sh -c '(.*)'$/m.exec(unit) ?? assert.fail(unit);
    const pasted = shell
      .replace('/var/log/suricata/eve.json', eve)
      .replace('node_modules/.bin/node src/main.ts', `${process.execPath} ${MAIN}`)
      .replace('http://127.0.0.1:8080', away.url);
    // As the unit runs it: a user without rights of any kind, and nothing that it may write to.
    const unprivileged = [
      '--reuid=65534',
      '--regid=65534',
      '--clear-groups',
      '--no-new-privs',
      '--bounding-set=-all',
      '/bin/sh',
      '-c',
      pasted,
    ];
    const asNobody = process.getuid?.() === 0 && needs('setpriv') === false;
    chmodSync(root, 0o755);
    const child = spawn(asNobody ? 'setpriv' : '/bin/sh', asNobody ? unprivileged : ['-c', pasted], {
      env: testEnvironment({ WEIR_API_KEY: KEY }),
      stdio: ['ignore', 'ignore', 'pipe'],
      detached: true,
    });
    let told = '';
    child.stderr!.setEncoding('utf8').on('data', (text: string) => (told += text));
    t.after(() => process.kill(-child.pid!, 'SIGKILL'));
    // Events as Suricata 7 writes them, made by hand: Debian 12 has no package of it.
    const event = (type: string, src_ip: string) =>
      appendFileSync(
        eve,
        `${JSON.stringify({
          timestamp: '2026-11-20T10:00:00.000000+0000',
          flow_id: 1,
          event_type: type,
          src_ip,
          dest_ip: '198.51.100.1',
          proto: 'TCP',
          ...(type === 'alert' && { alert: { action: 'allowed', gid: 1, signature_id: 2_001_219, signature: 'ET SCAN SSH', severity: 2 } }),
        })}\n`,
      );
    // Until `tail` is there its lines are those of the past.
    await eventually(async () => {
      event('alert', '192.0.2.11');
      assert.deepEqual(await away.blocked('default'), ['192.0.2.11']);
    });
    event('flow', '192.0.2.12');
    event('alert', '192.0.2.13');
    await eventually(async () => assert.deepEqual(await away.blocked('default'), ['192.0.2.11', '192.0.2.13']));
    const [rule] = await away.rules('default');
    lives(rule, 86_400);
    assert.deepEqual([rule.reason, rule.labels], ['ET SCAN SSH', { source: 'suricata', signature_id: 2_001_219 }]);
    // Not given up after the half minute that a command waits: the pipe holds what comes meanwhile.
    await away.stop();
    event('alert', '192.0.2.14');
    await eventually(() => assert.match(told, /next try in 8 s/));
    event('alert', '192.0.2.15');
    await away.start();
    await eventually(async () => assert.deepEqual(await away.blocked('default'), ['192.0.2.11', '192.0.2.13', '192.0.2.14', '192.0.2.15']));
  });
});
