/** The providers that the operator names in OIDC_FILE, and what the members of their groups may do. */
import { readFileSync } from 'node:fs';
import { LONGEST_GROUP, type ServiceRole } from '../account/person.ts';
import { ROLE_NAMES } from '../account/role.ts';
import { WeirError } from '../errors.ts';
import { type Static, Type } from '../json/schema.ts';
import { compile } from '../signal/validate.ts';

const word = (maxLength = 256) => Type.String({ minLength: 1, maxLength, format: 'text' });

const Provider = Type.Object(
  {
    id: Type.String({ pattern: '^[a-z0-9-]{1,32}$' }),
    name: word(64),
    issuer: word(2048),
    client_id: word(),
    client_secret: Type.Optional(word(2048)),
    client_secret_file: Type.Optional(word(4096)),
    scope: Type.Optional(word(1024)),
    groups_claim: Type.Optional(word()),
    name_claim: Type.Optional(word()),
    max_age: Type.Optional(Type.Integer({ minimum: 60, maximum: 2_592_000 })),
    clock_tolerance: Type.Optional(Type.Integer({ minimum: 0, maximum: 300 })),
    sign_out_there: Type.Optional(Type.Boolean()),
    parameters: Type.Optional(Type.Record(Type.String(), word(1024))),
    roles: Type.Array(
      Type.Object(
        {
          group: word(LONGEST_GROUP),
          role: Type.Enum([...ROLE_NAMES]),
          workspaces: Type.Array(word(200), { minItems: 1, maxItems: 1000 }),
        },
        { additionalProperties: false },
      ),
      { maxItems: 1000 },
    ),
  },
  { additionalProperties: false },
);
const File = Type.Object({ providers: Type.Array(Provider, { minItems: 1, maxItems: 20 }) }, { additionalProperties: false });

/** A provider as the file has it, its secret read. */
export type ProviderSettings = Static<typeof Provider>;

/** What people sign in with, and what they may. */
export interface PeopleSettings {
  readonly providers: readonly ProviderSettings[];
  readonly roles: readonly ServiceRole[];
}

const faultsOf = compile(File);

/** Reads OIDC_FILE. Throws USAGE with a line for each fault. */
export function readPeopleSettings(path: string): PeopleSettings {
  const refuse = (faults: readonly string[]) =>
    new WeirError('USAGE', faults.map((fault) => `OIDC_FILE ${path}: ${oneLine(fault)}`).join('\n'));
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw refuse([`cannot be read as JSON: ${(error as Error).message}`]);
  }
  const faults = faultsOf(json);
  if (faults.length > 0) throw refuse(faults.map(({ field, message }) => `${field} ${message}`));
  const { providers: given } = json as Static<typeof File>;
  const more = given.flatMap((provider, at) => {
    const isTwice = given.findIndex(({ id }) => id === provider.id) < at;
    return [...(isTwice ? [`there are two providers ${provider.id}`] : []), ...issuerFaults(provider)];
  });
  if (more.length > 0) throw refuse(more);
  const providers = given.map((provider) => ({ ...provider, ...secretOf(provider, refuse) }));
  const roles = providers.flatMap(({ id, roles: rows }) => rows.map((row) => ({ ...row, provider: id })));
  return { providers, roles };
}

function issuerFaults({ id, issuer, client_secret: secret, client_secret_file: file }: ProviderSettings): string[] {
  const url = URL.parse(issuer);
  const isAddress = url !== null && ['https:', 'http:'].includes(url.protocol) && url.search === '' && url.hash === '';
  return [
    ...(isAddress ? [] : [`${id}: issuer must be an https address without a query`]),
    ...(secret !== undefined && file !== undefined ? [`${id}: client_secret and client_secret_file exclude each other`] : []),
  ];
}

/** The secret of a provider whose file holds it. */
function secretOf({ id, client_secret_file: file }: ProviderSettings, refuse: (faults: string[]) => Error): Partial<ProviderSettings> {
  if (file === undefined) return {};
  try {
    return { client_secret: readFileSync(file, 'utf8').trim() };
  } catch (error) {
    throw refuse([`${id}: client_secret_file cannot be read: ${(error as Error).message}`]);
  }
}

/** Whether somebody is made admin of something: then keys need not sign in. */
export const hasAdmin = ({ roles }: PeopleSettings): boolean => roles.some(({ role }) => role === 'admin');

/** Reasons quote the file, line breaks included. */
const oneLine = (text: string) => text.replace(/[\s\p{Cc}]+/gu, ' ');
