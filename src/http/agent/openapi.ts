import { Type } from '../../json-schema.ts';
import { EXPRESSION_KINDS, RULE_KINDS } from '../../rule.ts';
import { pathsOf } from '../address.ts';
import { type About, type Api, BEARER, type Faults, headerParameter, jsonOf, queryParameters, reference } from '../docs/openapi.ts';
import type { HttpFault } from '../errors.ts';
import { documentAnswers, documentFaults, ETAG, FeedError, GZIP } from '../feeds/openapi.ts';
import { readParameters } from '../feeds/parameters.ts';
import { documentRefusalOf } from '../feeds/refusals.ts';
import { belongsToWorkspace } from '../rules/read.ts';
import { AGENT_PARAMETERS } from './read.ts';

const text = { type: 'string' };
const object = (properties: Readonly<Record<string, object>>) => ({ type: 'object', required: Object.keys(properties), properties });
const array = (items: object) => ({ type: 'array', items });
const networks = array({ ...text, description: 'A network in CIDR notation.' });
const byName = array({ type: 'object', additionalProperties: networks, description: 'The networks behind one country or ASN.' });
const targets = object({ asn: byName, country: byName, ips: networks });
const rules = object({
  rules: array(
    object({
      id: { ...text, description: 'rule_ref, and behind @ what changes with config.' },
      name: text,
      org_id: { ...text, description: 'The id of the workspace.' },
      description: text,
      action: text,
      expression: text,
      config: {},
    }),
  ),
});
const KEYS = EXPRESSION_KINDS.map((kind) => `${kind}s`);

const AgentConfig = Type.Unsafe<object>({
  title: 'AgentConfig',
  ...object({
    success: { const: true },
    config: object({
      access_rules: object({ id: text, name: text, description: text, allow: targets, block: targets }),
      ...Object.fromEntries(KEYS.map((key) => [key, rules])),
      created_at: text,
      updated_at: text,
      last_modified: text,
    }),
  }),
});
const AuthCheck = Type.Unsafe<object>({ title: 'AuthCheck', ...object({ success: { const: true } }) });

const id = '0195a3c0-0000-7000-8000-000000000001';
const instant = '2026-11-20T10:00:00Z';
const EXAMPLE = {
  success: true,
  config: {
    access_rules: {
      id,
      name: 'default',
      description: '',
      allow: { asn: [], country: [], ips: ['198.51.100.7/32'] },
      block: { asn: [{ AS64500: ['203.0.113.0/24'] }], country: [], ips: ['192.0.2.0/24', '2001:db8::/32'] },
    },
    ...Object.fromEntries(
      EXPRESSION_KINDS.map((kind) => {
        const { ruleRef, expression, action } = RULE_KINDS[kind].example;
        const rule = { id: `${ruleRef}@74234e98`, name: ruleRef, org_id: id, description: '', action, expression, config: null };
        return [`${kind}s`, { rules: [rule] }];
      }),
    ),
    created_at: '2026-11-01T09:00:00.000Z',
    updated_at: instant,
    last_modified: instant,
  },
};

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
  answers: documentAnswers('The configuration, complete.', jsonOf(reference(AgentConfig), 'a configuration', EXAMPLE)),
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
  summary: 'Whether the key may read the configuration',
  answers: { 200: { description: 'It may.', content: jsonOf(reference(AuthCheck), 'a good key', { success: true }) } },
  faults: shared,
};

/** By the first path of a row: one that is missing here fails every test that reads the document. */
const ABOUT = { '/config': CONFIG_ABOUT, '/authcheck': AUTHCHECK_ABOUT };

export const AGENT_API: Api = {
  group: 'agent',
  title: 'Agents',
  description: 'What agents that enforce rules themselves read. Each address is also below /v1.',
  schemas: [AgentConfig, AuthCheck, FeedError],
  securitySchemes: { bearer: BEARER },
  error: FeedError,
  about: (row) => ABOUT[pathsOf(row)[0] as keyof typeof ABOUT],
};
