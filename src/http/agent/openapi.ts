import { exampleOf, type Fields, listOf, objectOf, Type } from '../../json/schema.ts';
import { EXPRESSION_KINDS, type ExpressionKind, RULE_KINDS } from '../../rule.ts';
import { pathsOf } from '../address.ts';
import { type About, type Api, BEARER, type Faults, headerParameter, jsonOf, queryParameters, reference } from '../docs/openapi.ts';
import type { HttpFault } from '../errors.ts';
import { documentAnswers, documentFaults, ETAG, FeedError, GZIP } from '../feeds/openapi.ts';
import { readParameters } from '../feeds/parameters.ts';
import { documentRefusalOf } from '../feeds/refusals.ts';
import { belongsToWorkspace } from '../rules/read.ts';
import { AGENT_PARAMETERS } from './read.ts';

const networks = (...example: string[]) => [example, Type.Array(Type.String({ description: 'A network in CIDR notation.' }))] as const;
const byName = (...example: object[]) =>
  [
    example,
    Type.Array(
      Type.Unsafe<object>({
        type: 'object',
        additionalProperties: networks()[1],
        description: 'The networks behind one country or ASN.',
      }),
    ),
  ] as const;
const id = '0195a3c0-0000-7000-8000-000000000001';
const rulesOf = (kind: ExpressionKind) => {
  const { ruleRef, expression, action } = RULE_KINDS[kind].example;
  return {
    rules: listOf({
      id: [`${ruleRef}@74234e98`, 'rule_ref, then @ and a hash of config.'],
      name: ruleRef,
      org_id: [id, Type.String({ description: 'Workspace id.' })],
      description: '',
      action,
      expression,
      config: [null, Type.Unknown()],
    }),
  };
};
const CONFIG = {
  success: [true, Type.Literal(true)],
  config: {
    access_rules: {
      id: [id, Type.String()],
      name: 'default',
      description: '',
      allow: { asn: byName(), country: byName(), ips: networks('198.51.100.7/32') },
      block: { asn: byName({ AS64500: ['203.0.113.0/24'] }), country: byName(), ips: networks('192.0.2.0/24', '2001:db8::/32') },
    },
    ...Object.fromEntries(EXPRESSION_KINDS.map((kind) => [`${kind}s`, rulesOf(kind)])),
    created_at: '2026-11-01T09:00:00.000Z',
    updated_at: '2026-11-20T10:00:00Z',
    last_modified: '2026-11-20T10:00:00Z',
  },
} as const satisfies Fields;
const AgentConfig = objectOf(CONFIG, { title: 'AgentConfig' });
const AuthCheck = objectOf({ success: CONFIG.success }, { title: 'AuthCheck' });

const shared: Faults = { 403: { examples: { 'bound key': belongsToWorkspace('the rules of an agent') } } };

const CONFIG_ABOUT: About = {
  id: 'getAgentConfig',
  summary: 'The configuration of an agent: access rules with their networks, WAF rules, smart firewall rules',
  parameters: [
    ...queryParameters(AGENT_PARAMETERS, {
      expand: { description: '0: countries and ASNs without their networks.', schema: { default: '1' } },
    }),
    headerParameter('If-None-Match', 'Entity tags.', ETAG),
    GZIP,
  ],
  answers: documentAnswers('The configuration, complete.', jsonOf(reference(AgentConfig), 'a configuration', exampleOf(CONFIG))),
  faults: {
    ...shared,
    400: {
      says: 'Unsupported parameter, or malformed request.',
      examples: { 'unsupported parameter': readParameters(AGENT_PARAMETERS, 'expand=2') as HttpFault },
    },
    ...documentFaults(documentRefusalOf),
  },
};
const AUTHCHECK_ABOUT: About = {
  id: 'getAuthCheck',
  summary: 'Check whether the key can read the configuration',
  answers: { 200: { description: 'It can.', content: jsonOf(reference(AuthCheck), 'a good key', { success: true }) } },
  faults: shared,
};

/** By the first path of a row. A missing row fails every test that reads the document. */
const ABOUT = { '/config': CONFIG_ABOUT, '/authcheck': AUTHCHECK_ABOUT };

export const AGENT_API: Api = {
  group: 'agent',
  title: 'Agents',
  description: 'Configuration of agents that enforce rules themselves. Each address is also available below /v1.',
  schemas: [AgentConfig, AuthCheck, FeedError],
  securitySchemes: { bearer: BEARER },
  error: FeedError,
  about: (row) => ABOUT[pathsOf(row)[0] as keyof typeof ABOUT],
};
