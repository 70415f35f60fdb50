import { Type } from '../../json-schema.ts';
import { EXPRESSION_KINDS, RULE_KINDS } from '../../rule.ts';
import { type ApiGroup, BEARER, header, json, methods } from '../docs/openapi.ts';
import { condition, ETAG, FEED_HEADERS, FeedError } from '../feeds/openapi.ts';
import { documentResponses } from '../rules/openapi.ts';

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

const MALFORMED = { status: 400, message: 'Unsupported expand: must be one of 0, 1' };
const errors = documentResponses('agent', MALFORMED, 'config:read');
const { 304: _, 412: __, 413: ___, ...authErrors } = errors;

const config = methods(
  'AgentConfig',
  'The configuration of an agent: access rules with their networks, WAF rules, smart firewall rules',
  [
    {
      name: 'expand',
      in: 'query',
      description: '0: countries and ASNs without their networks.',
      schema: { type: 'string', enum: ['0', '1'], default: '1' },
    },
    condition('If-None-Match', 'Entity tags.', ETAG),
    condition('Accept-Encoding', 'gzip compresses the body, which then has its own ETag.', 'gzip'),
  ],
  {
    200: {
      description: 'The configuration, complete.',
      headers: { ...FEED_HEADERS, 'Content-Encoding': header('gzip when the body is compressed.', 'gzip') },
      content: json({ $ref: '#/components/schemas/AgentConfig' }, { config: { summary: 'a configuration', value: EXAMPLE } }),
    },
    ...errors,
  },
);
const authcheck = methods('AuthCheck', 'Whether the key may read the configuration', [], {
  200: {
    description: 'It may.',
    content: json({ $ref: '#/components/schemas/AuthCheck' }, { good: { summary: 'a good key', value: { success: true } } }),
  },
  ...authErrors,
});
const named = (path: { get: object; head: object }) => {
  const again = (operation: object) => ({ ...operation, operationId: `${(operation as { operationId: string }).operationId}V1` });
  return { get: again(path.get), head: again(path.head) };
};

export const AGENT_API: ApiGroup = {
  title: 'Agents',
  description: 'What agents that enforce rules themselves read. Each address is also below /v1.',
  schemas: [AgentConfig, AuthCheck, FeedError],
  securitySchemes: { bearer: BEARER },
  paths: { '/config': config, '/authcheck': authcheck, '/v1/config': named(config), '/v1/authcheck': named(authcheck) },
};
