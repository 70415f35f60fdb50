import { hash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { DatabaseError, type PoolClient } from 'pg';
import { WeirError } from '../../errors.ts';
import type { Row } from '../rows.ts';
import type { Outcome, Value as ScalarValue, Statement, TransactOptions, Work } from '../work.ts';
import { BinaryCopy, type RowHandler } from './copy.ts';
import { connectionFault, PostgresFault, serverFault } from './fault.ts';
import { openPools } from './pools.ts';

type Value = ScalarValue | readonly string[] | readonly number[] | readonly Buffer[];

/** The database's clock in ms, as an SQL expression. */
export const NOW = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint';

/** With a name, each connection plans it once and rows are arrays; without, it is planned each time and rows are objects. */
export interface Prepared {
  readonly name?: string;
  readonly text: string;
  readonly rowMode?: 'array';
}

export interface Session {
  run(statement: string | Prepared, ...values: Value[]): Promise<Outcome>;
  script(text: string): Promise<void>;
  one(text: string, ...values: Value[]): Promise<Row | undefined>;
  /** Passes rows in PostgreSQL's binary format one by one, without storing them. Values are part of the text. */
  copy(query: string, row: RowHandler): Promise<void>;
}

export interface Database {
  /** Retried on a new connection if one is lost. */
  run(statement: string | Prepared, ...values: Value[]): Promise<Outcome>;
  rows(text: string, ...values: Value[]): Promise<Row[]>;
  one(text: string, ...values: Value[]): Promise<Row | undefined>;
  /** Retried if PostgreSQL asks for it or fails before the commit; if `repeatable`, also if the outcome is unknown. */
  transaction<T>(work: (session: Session) => Promise<T>, options?: Omit<TransactOptions, 'alone'>): Promise<T>;
  /** Reads one consistent snapshot. Retried only if `again` returns true. */
  view<T>(work: (session: Session) => Promise<T>, again: () => boolean): Promise<T>;
  close(): Promise<void>;
}

/** Client-side timeouts, ms, because a hanging server sends nothing. */
const LIMITS = { statement: 5000, view: 10_000, transaction: 10_000 };
/** A connection that fails sooner, ms, is retried; otherwise the caller decides. */
const QUICK = 1000;
/** ms before the second, third, … attempt. */
const PAUSES = [50, 200, 500];
/** Server-side limit for a transaction of a suspended or dead process, ms. */
const IDLE = 10_000;

export interface DatabaseOptions {
  readonly connections?: number;
  /**
   * Whether the commit of this connection (by server process id) waits for a synchronous standby. It is then never cut: the server process
   * would continue to wait, and the next call would occupy another one.
   */
  readonly waitsForStandby?: (pid: number) => Promise<boolean>;
}

/** Connects at the first call. Lost connections never end the process. */
export function openDatabase(url: string, { connections = 10, waitsForStandby }: DatabaseOptions = {}): Database {
  const pools = openPools(url, connections);
  const waiting = new Set<PoolClient>();

  const waits = async (client: PoolClient): Promise<boolean> => (await waitsForStandby?.(processOf(client))) ?? false;

  /** After `limit` ms it cuts the connection, which rejects `work`, unless it waits for a standby. */
  async function lease<T>(limit: number, work: (client: PoolClient) => Promise<T>): Promise<T> {
    if (waiting.size === connections) throw tooManyWait();
    const begun = performance.now();
    const client = await pools.connect().catch((error: Error) => {
      throw waitsForStandby !== undefined && isQueueFull(error) ? tooManyWait() : connectionFault(error, performance.now() - begun < QUICK);
    });
    let isTimeout = false;
    const cut = () => {
      isTimeout = true;
      pools.doubt(client);
      client.connection.stream.destroy(new Error(`no answer within ${limit / 1000} s`));
    };
    const left = Promise.withResolvers<T>();
    const look = async () => {
      const isWaiting = await waits(client);
      if (isDone) return;
      if (!isWaiting) return cut();
      waiting.add(client);
      timer = setTimeout(look, limit);
      left.reject(new PostgresFault('PostgreSQL waits for its synchronous standby', false, undefined));
    };
    let timer = setTimeout(look, limit);
    let [broken, isDone] = [false, false];
    work(client)
      .catch((error) => {
        const lost = pools.lossOf(client);
        const fault = error instanceof DatabaseError ? serverFault(error) : lost ? connectionFault(lost, !isTimeout) : error;
        broken = client.getTransactionStatus() !== 'I' || (fault instanceof PostgresFault && fault.again);
        throw fault;
      })
      .finally(() => {
        isDone = true;
        clearTimeout(timer);
        waiting.delete(client);
        client.release(broken);
      })
      .then(left.resolve, left.reject);
    return left.promise;
  }

  async function transact<T>(begin: string, limit: number, work: (session: Session) => Promise<T>, commits?: () => void): Promise<T> {
    return lease(limit, async (client) => {
      await client.query(
        `${begin}; SET LOCAL statement_timeout = ${limit}; SET LOCAL idle_in_transaction_session_timeout = ${IDLE}; SET LOCAL jit = off`,
      );
      let result: T;
      try {
        result = await work(sessionOn(client));
      } catch (error) {
        await client.query('ROLLBACK').catch(() => {});
        throw error;
      }
      commits?.();
      const end = client.query('COMMIT');
      // Nobody awaits the end of a read; the next statement on the connection does.
      if (commits === undefined) end.catch(() => {});
      else await end;
      return result;
    });
  }

  const run: Session['run'] = (statement, ...values) =>
    retrying(() => lease(LIMITS.statement, (client) => sessionOn(client).run(statement, ...values)));

  return {
    run,
    rows: async (text, ...values) => (await run(text, ...values)).rows,
    one: async (text, ...values) => (await run(text, ...values)).rows[0],
    async transaction(work, { repeatable = false, limit = LIMITS.transaction } = {}) {
      let committing = false;
      const once = () => {
        committing = false;
        return transact('BEGIN', limit, work, () => {
          committing = true;
        });
      };
      try {
        return await retrying(once, () => repeatable || !committing);
      } catch (error) {
        if (!committing || !(error instanceof PostgresFault)) throw error;
        throw new PostgresFault(`${error.message}; it is unknown whether the change was made`, false, error);
      }
    },
    view: (work, again) => retrying(() => transact('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', LIMITS.view, work), again),
    close: () => pools.close(),
  };
}

/** Server process id. */
const processOf = (client: PoolClient): number => (client as PoolClient & { readonly processID: number }).processID;

const isQueueFull = ({ message }: Error): boolean => message.startsWith('timeout exceeded');
/** Retry-After, s. */
const AGAIN = 5;
const tooManyWait = () =>
  new WeirError('LIMITED', 'PostgreSQL accepts no more changes at this time: too many are waiting', { cause: { retryAfter: AGAIN } });

export async function drive<T>(session: Pick<Session, 'run'>, work: Work<T>): Promise<T> {
  let step = work.next();
  while (!step.done) {
    const { text, values, plannedOnce, asArrays } = step.value;
    step = work.next(await session.run(plannedOnce ? prepared(text) : asArrays ? { text, rowMode: 'array' } : text, ...values));
  }
  return step.value;
}

/** Values per combined statement; PostgreSQL's limit is 65,535. */
const MOST_VALUES = 20_000;

/** Combines the statements of works whose results and order do not matter. */
export async function driveAtOnce(session: Pick<Session, 'run'>, works: readonly Work<void>[]): Promise<void> {
  let texts: string[] = [];
  let values: ScalarValue[] = [];
  const flush = async () => {
    const last = texts.pop();
    if (last === undefined) return;
    const first = texts.map((text, i) => `s${i} AS (${text})`);
    await session.run(first.length === 0 ? last : `WITH ${first.join(', ')} ${last}`, ...values);
    [texts, values] = [[], []];
  };
  for (const statement of works.flatMap(statementsOf)) {
    if (values.length + statement.values.length > MOST_VALUES) await flush();
    const before = values.length;
    texts.push(statement.text.replace(/\$(\d+)/g, (_, n: string) => `$${Number(n) + before}`));
    values.push(...statement.values);
  }
  await flush();
}

function statementsOf(work: Work<void>): Statement[] {
  const statements: Statement[] = [];
  for (let step = work.next(); !step.done; step = work.next({ rows: [], count: 0 })) statements.push(step.value);
  return statements;
}

/** A pooler may pass connections between processes: the name depends on the text. */
const prepared = (text: string): Prepared => ({ name: `weir_${hash('md5', text, 'hex')}`, text });

/** Retries after a pause while the fault and `allowed` permit. */
async function retrying<T>(work: () => Promise<T>, allowed = () => true): Promise<T> {
  for (const pause of PAUSES) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof PostgresFault && error.again && allowed())) throw error;
    }
    await delay(pause);
  }
  return work();
}

function sessionOn(client: PoolClient): Session {
  const run: Session['run'] = async (statement, ...values) => {
    const asked = typeof statement === 'string' ? { text: statement } : statement;
    const { rows, rowCount } = await client.query<Row>({ ...asked, values });
    return { rows, count: rowCount ?? 0 };
  };
  return {
    run,
    async script(text) {
      await client.query(text);
    },
    one: async (text, ...values) => (await run(text, ...values)).rows[0],
    copy: (query, row) => client.query(new BinaryCopy(`COPY (${query}) TO STDOUT (FORMAT binary)`, row)).done,
  };
}
