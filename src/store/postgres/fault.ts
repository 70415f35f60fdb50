import { DatabaseError } from 'pg';
import { untrustedReason, WeirError } from '../../errors.ts';

/** A failure of PostgreSQL or the connection, in a readable sentence. */
export class PostgresFault extends WeirError {
  /** Nothing was written, and a retry on a new connection may succeed. */
  readonly again: boolean;

  constructor(message: string, again: boolean, cause: unknown) {
    super('STORE_UNAVAILABLE', message, { cause });
    this.again = again;
  }
}

/** SQLSTATE or class, meaning, retry. The first match counts. */
const SQLSTATES: readonly (readonly [prefix: string, meaning: string, again: boolean])[] = [
  ['08', 'does not answer', true], // connection exception
  ['57P', 'does not answer', true], // shut down, crashed, starting up
  ['53', 'is out of resources', true], // disk, memory, connections
  ['40001', 'asks for another try', true], // serialization failure
  ['40P01', 'asks for another try', true], // deadlock
  ['0A000', 'asks for another try', true], // a migration changed the columns of a prepared statement
  ['25006', 'is read-only', true], // this connection leads to a standby since a failover
  ['25P03', 'does not answer', true], // the transaction idled too long
  ['57014', 'does not answer', false], // statement timeout
  ['55P03', 'does not answer', false], // lock timeout
  ['28', 'refuses the connection', false], // password, role, pg_hba.conf
  ['3D000', 'refuses the connection', false], // no such database
];

export function serverFault(error: DatabaseError): PostgresFault {
  const code = error.code ?? '';
  const [, meaning, again] = SQLSTATES.find(([prefix]) => code.startsWith(prefix)) ?? [code, 'refuses', false];
  return new PostgresFault(`PostgreSQL ${meaning}: ${error.message}`, again, error);
}

export function connectionFault(error: Error & { readonly syscall?: string }, again: boolean): WeirError {
  if (error instanceof DatabaseError) return serverFault(error);
  if (error instanceof PostgresFault) return error;
  if (error.syscall === 'open') return new WeirError('USAGE', `a file that DATABASE_URL names cannot be read: ${error.message}`);
  // For names with several addresses Node puts the texts into `errors`.
  const text = error instanceof AggregateError ? error.errors.map((each: Error) => each.message).join(', ') : error.message;
  const untrusted = untrustedReason(error);
  if (untrusted !== undefined) {
    return new PostgresFault(`PostgreSQL presents an untrusted certificate (sslrootcert of DATABASE_URL): ${untrusted}`, false, error);
  }
  return new PostgresFault(`PostgreSQL does not answer: ${text}`, again, error);
}
