/** Reloaded on changes (SPEC D12.8). */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { WeirError } from '../errors.ts';
import type { Log } from '../ports/log.ts';
import type { TlsMaterial, TlsSource } from '../ports/tls.ts';
import type { Config } from '../settings/settings.ts';

/** Polling interval, ms. */
const POLL_MS = 2_000;

type TlsSettings = Pick<Config, 'tlsCertFile' | 'tlsKeyFile' | 'tlsClientCaFile'>;
type Variable = 'TLS_CERT_FILE' | 'TLS_KEY_FILE' | 'TLS_CLIENT_CA_FILE';

export interface TlsInUse extends TlsSource {
  /** ms */
  expiresAt(): number;
  /** For SIGHUP. */
  reload(): void;
  close(): void;
}

interface Loaded {
  readonly material: TlsMaterial;
  readonly expiresAt: number;
}

/**
 * Reloads files when they stop changing; undefined: none set. Throws USAGE with all faults at the start; later logs them and retains the
 * old material.
 */
export function useTls(settings: TlsSettings, log: Log): TlsInUse | undefined {
  const { tlsCertFile: cert, tlsKeyFile: key, tlsClientCaFile: ca } = settings;
  if (cert === undefined || key === undefined) return undefined;
  const files = [cert, key, ...(ca === undefined ? [] : [ca])];
  const users: ((material: TlsMaterial) => void)[] = [];
  let tried = stateOf(files);
  let seen = tried;
  let inUse = loadTls(cert, key, ca);

  function reload(): void {
    tried = stateOf(files);
    try {
      const next = loadTls(cert!, key!, ca);
      for (const use of users) use(next.material);
      inUse = next;
      log('info', `the certificate was reloaded; it expires on ${new Date(next.expiresAt).toISOString().slice(0, 10)}`);
    } catch (error) {
      log('error', `${(error as Error).message.replaceAll('\n', '; ')}; the previous certificate stays in use`);
    }
  }

  // Polling: renewals replace files one by one, in ways that notifications miss.
  const timer = setInterval(() => {
    const state = stateOf(files);
    const isSettled = state === seen;
    seen = state;
    if (isSettled && state !== tried) reload();
  }, POLL_MS);
  timer.unref();

  return {
    current: () => inUse.material,
    onChange: (use) => void users.push(use),
    expiresAt: () => inUse.expiresAt,
    reload,
    close: () => clearInterval(timer),
  };
}

/** Also with a missing one. */
const stateOf = (files: readonly string[]): string =>
  files
    .map((file) => {
      const stat = statSync(file, { throwIfNoEntry: false });
      return stat === undefined ? 'missing' : `${stat.ino} ${stat.size} ${stat.mtimeMs}`;
    })
    .join(', ');

/** Throws USAGE with one line per fault. */
function loadTls(certFile: string, keyFile: string, caFile: string | undefined): Loaded {
  const faults: string[] = [];
  function read<T>(variable: Variable, file: string, holds: string, parse: (pem: string) => T): { pem: string; value: T } | undefined {
    let pem: string;
    try {
      pem = readFileSync(file, 'utf8');
    } catch (error) {
      faults.push(`${variable}: ${file} cannot be read: ${(error as Error).message}`);
      return undefined;
    }
    try {
      return { pem, value: parse(pem) };
    } catch (error) {
      faults.push(`${variable}: ${file} holds no ${holds}: ${(error as Error).message}`);
      return undefined;
    }
  }

  const certificate = read('TLS_CERT_FILE', certFile, 'certificate in PEM', (pem) => new X509Certificate(pem));
  const key = read('TLS_KEY_FILE', keyFile, 'private key in PEM without a passphrase', (pem): KeyObject => createPrivateKey(pem));
  const authorities =
    caFile === undefined ? undefined : read('TLS_CLIENT_CA_FILE', caFile, 'certificate in PEM', (pem) => new X509Certificate(pem));
  if (certificate !== undefined && key !== undefined) {
    if (!certificate.value.checkPrivateKey(key.value)) {
      faults.push(`TLS_KEY_FILE: ${keyFile} is not the key of the certificate in ${certFile}`);
    } else if (faults.length === 0) {
      const material = { cert: certificate.pem, key: key.pem, ca: authorities?.pem };
      try {
        createSecureContext(material);
        return { material, expiresAt: Date.parse(certificate.value.validTo) };
      } catch (error) {
        faults.push(`TLS_CERT_FILE: ${certFile} cannot be used: ${(error as Error).message}`);
      }
    }
  }
  throw new WeirError('USAGE', faults.join('\n'));
}
