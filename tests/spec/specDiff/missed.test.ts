import type { Document } from '../../../spec/rules/types.ts';
import {
  fieldOf,
  operationOf,
  parameterOf,
  type Row,
  renameSchema,
  responseOf,
  schemaOf,
  swap,
  testRows,
} from './realDocument.ts';

function renameTag(document: Document, from: string, to: string): void {
  const text = JSON.stringify(document).replaceAll(`["${from}"]`, `["${to}"]`);
  Object.assign(document, JSON.parse(text.replace(`{"name":"${from}"`, `{"name":"${to}"`)));
}

/** Changes that a comparison is known to miss, or to take for nothing. */
const missed: Row[] = [
  [
    'breaking',
    'an enum value renamed',
    (d) => swap(schemaOf(d, 'AgentStatus').enum, 'inactive', 'off'),
    /^AgentStatus {2}value `(off|inactive)` is (new|gone) \(in /,
  ],
  [
    'breaking',
    'an accepted key form dropped',
    (d) => Object.assign(d, { security: [{ ApiKey: [] }] }),
    /^operations {2}key form `BearerKey` is not accepted any more \(in \d+ operations: /,
  ],
  [
    'breaking',
    'the header of a key form renamed',
    (d) => Object.assign(d.components?.securitySchemes?.ApiKey as object, { name: 'X-Key' }),
    /^operations {2}key form `ApiKey` is (not accepted any more|accepted) \(in \d+ operations: /,
  ],
  [
    'breaking',
    'a key form dropped at one operation',
    (d) => Object.assign(operationOf(d, 'getAgent'), { security: [{ ApiKey: [] }] }),
    /^getAgent {2}key form `BearerKey`/,
  ],
  [
    'breaking',
    'a field of a stream event is gone',
    (d) => delete schemaOf(d, 'StreamDebugInfo').properties.totalCost,
    /^StreamDebugInfo.totalCost {2}is gone \(in 1 answer\)$/,
  ],
  [
    'breaking',
    'a field of a stream event has another type',
    (d) => Object.assign(fieldOf(d, 'StreamTextDelta.text'), { type: 'integer' }),
    /^StreamTextDelta.text {2}type string → integer/,
  ],
  [
    'breaking',
    'a field of a stream event may be absent',
    (d) => schemaOf(d, 'StreamError').required.pop(),
    /^StreamError.requestId {2}may be absent now \(in 1 answer\)$/,
  ],
  [
    'addition',
    'a field of a stream event is new',
    (d) => Object.assign(schemaOf(d, 'StreamDebugInfo').properties, { extra: { type: 'string' } }),
    /^StreamDebugInfo.extra {2}is a new field/,
  ],
  [
    'breaking',
    'a required body added',
    (d) =>
      Object.assign(operationOf(d, 'deleteAgent'), {
        requestBody: { required: true, content: { 'application/json': { schema: { type: 'object' } } } },
      }),
    /^deleteAgent body {2}is new and required$/,
  ],
  [
    'breaking',
    'a body becomes required',
    (d) => Object.assign(operationOf(d, 'publishAgent').requestBody ?? {}, { required: true }),
    /^publishAgent body {2}is required now$/,
  ],
  [
    'breaking',
    'a field restricted to an enum',
    (d) => Object.assign(fieldOf(d, 'AgentCreate.description'), { enum: ['a', 'b', null] }),
    /^AgentCreate.description {2}only `a`, `b` are valid now \(in 1 request\)$/,
  ],
  [
    'breaking',
    'a response enum opened',
    (d) => delete (schemaOf(d, 'AgentStatus') as { enum?: unknown }).enum,
    /^AgentStatus {2}other values than `draft`, .* are valid now \(in /,
  ],
  [
    'breaking',
    'a format of a response changed',
    (d) => Object.assign(fieldOf(d, 'Agent.createdAt'), { format: 'date' }),
    /^Agent.createdAt {2}format date-time → date \(in /,
  ],
  [
    'breaking',
    'a media type of a response changed',
    (d) => {
      const content = operationOf(d, 'getAgent').responses?.['200']?.content ?? {};
      content['text/plain'] = content['application/json'] ?? {};
      delete content['application/json'];
    },
    /^getAgent 200 {2}`(application\/json|text\/plain)` is (gone|new)$/,
  ],
  [
    'breaking',
    'x-max-bytes lowered',
    (d) => Object.assign(fieldOf(d, 'KnowledgeSourceFileCreate.file'), { 'x-max-bytes': 1_000 }),
    /^KnowledgeSourceFileCreate.file {2}x-max-bytes \d+ → 1000 \(in 1 request\)$/,
  ],
  [
    'generated code',
    'a schema renamed',
    (d) => renameSchema(d, 'Agent', 'Bot'),
    /^Bot {2}is the name of the schema `Agent` now \(in \d+ answers\)$/,
  ],
  ['generated code', 'a tag renamed', (d) => renameTag(d, 'Hub', 'Site'), /^(operations|.*) {2}tag Hub → Site/],
  [
    'breaking',
    'dependentRequired',
    (d) => Object.assign(schemaOf(d, 'AgentCreate'), { dependentRequired: { avatarUrl: ['description'] } }),
    /^AgentCreate \(dependentRequired of `avatarUrl`\) {2}is new \(in 1 request\)$/,
  ],
  [
    'breaking',
    'if and then',
    (d) =>
      Object.assign(schemaOf(d, 'AgentCreate'), {
        if: { required: ['avatarUrl'] },
        ...Object.fromEntries([['then', { required: ['description'] }]]),
      }),
    /^AgentCreate {2}a condition \(`if`\) is new \(in 1 request\)$/,
  ],
  [
    'breaking',
    'a header parameter gone',
    (d) => operationOf(d, 'createAgent').parameters?.splice(0, 1),
    /^createAgent header parameter Idempotency-Key {2}is gone$/,
  ],
  [
    'breaking',
    'a header parameter gets shorter',
    (d) => Object.assign(parameterOf(d, 'IdempotencyKey').schema, { maxLength: 10 }),
    /^(triggerAutomation )?header parameter Idempotency-Key {2}maxLength 255 → 10( \(in \d+ operations: |$)/,
  ],
  [
    'breaking',
    'a response header gone',
    (d) => Object.assign(responseOf(d, 'TooManyRequests'), { headers: {} }),
    /^429 header [\w-]+ {2}is gone \(in \d+ operations: /,
  ],
  [
    'breaking',
    'the text of a response header is another',
    (d) => Object.assign(responseOf(d, 'TooManyRequests').headers, { 'Retry-After': { schema: { type: 'string' } } }),
    /^429 header Retry-After {2}/,
  ],
  [
    'breaking',
    'the schema of a text in a part demands more',
    (d) => {
      schemaOf(d, 'MessageStreamEvent').oneOf?.push({ type: 'array' });
    },
    /^MessageStreamEvent {2}alternative `array` is new/,
  ],
  [
    'breaking',
    'an operation that was served answers 501',
    (d) => Object.assign(operationOf(d, 'getAgent'), { 'x-not-implemented': true }),
    /^getAgent {2}is not served any more$/,
  ],
  [
    'breaking',
    'the path of the service',
    (d) => Object.assign(d, { servers: [{ url: '/public/api/v2' }] }),
    /^servers {2}`\/public\/api\/v1` is gone/,
  ],
];

describe('what a comparison easily misses', () => testRows(missed));
