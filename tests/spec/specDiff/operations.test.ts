import { compareDocuments } from '../../../scripts/specDiff/compare.ts';
import type { Document, MediaType } from '../../../spec/rules/types.ts';
import { operationOf, parameterOf, type Row, responseOf, swap, testRows } from './realDocument.ts';

function bodyOf(document: Document, id: string, type = 'application/json'): MediaType {
  return operationOf(document, id).requestBody?.content?.[type] ?? {};
}

const operations: Row[] = [
  [
    'breaking',
    'an operation is gone',
    (d) => delete d.paths?.['/agents/{agentPublicId}']?.delete,
    /^deleteAgent {2}is gone \(DELETE \/agents\/\{agentPublicId\}\)$/,
  ],
  [
    'breaking',
    'a path is another',
    (d) => {
      const paths = d.paths ?? {};
      paths['/bots'] = paths['/agents'] ?? {};
      delete paths['/agents'];
    },
    /^(createAgent|listAgents) {2}is (gone|new) \((POST|GET) /,
  ],
  [
    'generated code',
    'an operation has another name',
    (d) => Object.assign(operationOf(d, 'getAgent'), { operationId: 'readAgent' }),
    /^readAgent {2}is the name of `getAgent` now$/,
  ],
  [
    'generated code',
    'a parameter of a path has another name',
    (d) =>
      Object.assign(
        d,
        JSON.parse(
          JSON.stringify(d)
            .replaceAll('{skillPublicId}', '{id}')
            .replaceAll('"skillPublicId","in":"path"', '"id","in":"path"'),
        ),
      ),
    /parameters of the path have other names/,
  ],
  [
    'addition',
    'an operation is new',
    (d) =>
      Object.assign(d.paths ?? {}, {
        '/agents/{agentPublicId}/state': { get: { ...operationOf(d, 'getAgent'), operationId: 'getAgentState' } },
      }),
    /^getAgentState {2}is new \(GET /,
  ],
  [
    'addition',
    'a key form is accepted besides',
    (d) => {
      Object.assign(d.components?.securitySchemes ?? {}, { CookieKey: { type: 'apiKey', in: 'cookie', name: 'key' } });
      (d.security as object[]).push({ CookieKey: [] });
    },
    /^operations {2}key form `CookieKey` is accepted \(in /,
  ],
  [
    'generated code',
    'a key form has another name',
    (d) => Object.assign(d, JSON.parse(JSON.stringify(d).replaceAll('"BearerKey"', '"Bearer"'))),
    /^operations {2}key form `BearerKey` is called `Bearer` \(in /,
  ],
  [
    'breaking',
    'a query parameter is gone',
    (d) => operationOf(d, 'listAgents').parameters?.pop(),
    /^listAgents query parameter \w+ {2}is gone$/,
  ],
  [
    'breaking',
    'a required query parameter is new',
    (d) =>
      operationOf(d, 'listAgents').parameters?.push({
        name: 'q',
        in: 'query',
        required: true,
        schema: { type: 'string' },
      }),
    /^listAgents query parameter q {2}is new and required$/,
  ],
  [
    'addition',
    'an optional query parameter is new',
    (d) => operationOf(d, 'listAgents').parameters?.push({ name: 'q', in: 'query', schema: { type: 'string' } }),
    /^listAgents query parameter q {2}is new$/,
  ],
  [
    'breaking',
    'a parameter becomes required',
    (d) => Object.assign(parameterOf(d, 'AgentSearch'), { required: true }),
    /query parameter \w+ {2}is required now$/,
  ],
  [
    'breaking',
    'a bound of a shared parameter falls',
    (d) => Object.assign(parameterOf(d, 'Limit').schema, { maximum: 7 }),
    /^query parameter limit {2}maximum \d+ → 7 \(in \d+ operations: /,
  ],
  [
    'addition',
    'a bound of a shared parameter rises',
    (d) => Object.assign(parameterOf(d, 'Limit').schema, { maximum: 7_000 }),
    /^query parameter limit {2}maximum \d+ → 7000 \(in /,
  ],
  [
    'breaking',
    'a default of a shared parameter is another',
    (d) => Object.assign(parameterOf(d, 'Limit').schema, { default: 3 }),
    /^query parameter limit {2}default \d+ → 3 \(in /,
  ],
  [
    'breaking',
    'a parameter is written in another style',
    (d) => Object.assign(parameterOf(d, 'AgentSearch'), { style: 'pipeDelimited' }),
    /query parameter \w+ {2}`style` changed \(no rule knows it: counted as breaking\)$/,
  ],
  [
    'breaking',
    'a body takes a media type less',
    (d) => delete operationOf(d, 'createKnowledgeSource').requestBody?.content?.['multipart/form-data'],
    /^createKnowledgeSource body {2}`multipart\/form-data` is gone$/,
  ],
  [
    'addition',
    'a body takes a media type more',
    (d) =>
      Object.assign(operationOf(d, 'createAgent').requestBody?.content ?? {}, {
        'application/cbor': bodyOf(d, 'createAgent'),
      }),
    /^createAgent body {2}`application\/cbor` is new$/,
  ],
  [
    'breaking',
    'a part of a form is encoded otherwise',
    (d) =>
      Object.assign(bodyOf(d, 'uploadHubLogo', 'multipart/form-data'), {
        encoding: { file: { contentType: 'image/png' } },
      }),
    /^uploadHubLogo body {2}encoding of the part `file`: none → /,
  ],
  [
    'addition',
    'an optional body is new',
    (d) =>
      Object.assign(operationOf(d, 'deleteAgent'), {
        requestBody: { content: { 'application/json': { schema: { type: 'object' } } } },
      }),
    /^deleteAgent body {2}is new$/,
  ],
  [
    'breaking',
    'a body is gone',
    (d) => delete operationOf(d, 'publishAgent').requestBody,
    /^publishAgent body {2}is gone$/,
  ],
  [
    'addition',
    'a body may be left out',
    (d) => Object.assign(operationOf(d, 'createAgent').requestBody ?? {}, { required: false }),
    /^createAgent body {2}may be left out now$/,
  ],
  [
    'breaking',
    'a success has another status',
    (d) => {
      const { responses = {} } = operationOf(d, 'createAgent');
      responses['200'] = responses['201'] ?? {};
      delete responses['201'];
    },
    /^createAgent 20[01] {2}is (no longer an|a new) answer$/,
  ],
  [
    'addition',
    'an error status is new',
    (d) => Object.assign(operationOf(d, 'getAgent').responses ?? {}, { '410': { description: 'Gone.' } }),
    /^getAgent 410 {2}is a new answer$/,
  ],
  [
    'addition',
    'a response header is new',
    (d) => Object.assign(responseOf(d, 'TooManyRequests').headers, { 'X-More': { schema: { type: 'string' } } }),
    /^429 header X-More {2}is new \(in \d+ operations: /,
  ],
  [
    'addition',
    'an error code goes',
    (d) => operationOf(d, 'createAgent')['x-error-codes']?.['409']?.splice(0, 1),
    /^createAgent 409 {2}error code `\w+` is gone$/,
  ],
  [
    'breaking',
    'an error code is renamed at its operation',
    (d) => swap(operationOf(d, 'createAgent')['x-error-codes']?.['409'], 'AGENT_NAME_TAKEN', 'AGENT_EXISTS'),
    /^createAgent 409 {2}error code `AGENT_(NAME_TAKEN|EXISTS)` is (gone|new)/,
  ],
  [
    'breaking',
    'an error code gets another status',
    (d) => {
      const codes = operationOf(d, 'createAgent')['x-error-codes'] ?? {};
      codes['422']?.push('AGENT_NAME_TAKEN');
      codes['409'] = ['IDEMPOTENCY_IN_PROGRESS'];
    },
    /^createAgent 409 {2}error code `AGENT_NAME_TAKEN` is 422 now$/,
  ],
  [
    'breaking',
    'a part of an operation that no rule knows',
    (d) => Object.assign(operationOf(d, 'getAgent'), { 'x-unheard-of': true }),
    /^getAgent {2}`x-unheard-of` changed \(no rule knows it: counted as breaking\)$/,
  ],
  [
    'breaking',
    'a part of the document that no rule knows',
    (d) => Object.assign(d, { jsonSchemaDialect: 'https://example.com/dialect' }),
    /^document {2}`jsonSchemaDialect` changed/,
  ],
];

type Webhooks = NonNullable<Document['webhooks']>;

/** A document with these webhooks and nothing else. */
function hooked(webhooks: Webhooks): Document {
  return { openapi: '3.1.1', paths: {}, webhooks };
}

const webhook = (url: string): Webhooks => ({
  run: {
    post: {
      requestBody: {
        required: true,
        content: {
          'application/json': { schema: { type: 'object', properties: { url: { type: 'string', format: url } } } },
        },
      },
      responses: { 200: { description: 'Received.' } },
    },
  },
});

describe('operations', () => testRows(operations));

test('what a webhook sends is read by its receiver, so that a new field is an addition and a lost one breaks', () => {
  const send = (fields: object) => ({
    run: {
      post: {
        requestBody: { content: { 'application/json': { schema: { type: 'object', properties: fields } } } },
        responses: {},
      },
    },
  });
  const kindsOf = (before: Webhooks, after: Webhooks) =>
    compareDocuments(hooked(before), hooked(after)).map(({ kind }) => kind);
  expect(kindsOf(send({ a: {} }), send({ a: {}, b: { type: 'string' } }))).toEqual(['addition']);
  expect(kindsOf(send({ a: {}, b: {} }), send({ a: {} }))).toEqual(['breaking']);
  expect(kindsOf({}, webhook('uri'))).toEqual(['addition']);
  expect(kindsOf(webhook('uri'), {})).toEqual(['breaking']);
  expect(kindsOf(webhook('uri'), webhook('uuid'))).toEqual(['breaking']);
});

test('a response header that is no longer sure breaks readers', () => {
  const withHeader = (required: boolean): Document => ({
    openapi: '3.1.1',
    paths: {
      '/a': { get: { operationId: 'getA', responses: { 200: { headers: { 'X-A': { required, schema: {} } } } } } },
    },
  });
  const linesOf = (before: boolean, after: boolean) =>
    compareDocuments(withHeader(before), withHeader(after)).map(({ kind, where, what }) => `${kind} ${where} ${what}`);
  expect(linesOf(true, false)).toEqual(['breaking getA 200 header X-A may be absent now']);
  expect(linesOf(false, true)).toEqual(['addition getA 200 header X-A is always sent now']);
});
