/** Certificates for tests, made by openssl in a folder. */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const openssl = (folder: string, ...args: string[]) => promisify(execFile)('openssl', args, { cwd: folder });
const REQUEST = ['req', '-new', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

/** Required by Python 3.13. */
const SIGNS = ['-addext', 'keyUsage=critical,keyCertSign,cRLSign'];

/** Makes an authority: ca.pem and ca.key. */
export async function makeAuthority(folder: string): Promise<void> {
  await openssl(folder, ...REQUEST, '-x509', '-days', '2', ...SIGNS, '-subj', '/CN=test authority', '-keyout', 'ca.key', '-out', 'ca.pem');
}

/** Has the authority of the folder sign a certificate: `name`.pem and `name`.key. */
export async function makeCertificate(folder: string, name: string, subject: string, extension: string): Promise<void> {
  writeFileSync(join(folder, `${name}.ext`), extension);
  await openssl(folder, ...REQUEST, '-subj', subject, '-keyout', `${name}.key`, '-out', `${name}.csr`);
  const sign = ['x509', '-req', '-days', '2', '-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', `${name}.ext`];
  await openssl(folder, ...sign, '-in', `${name}.csr`, '-out', `${name}.pem`);
}
