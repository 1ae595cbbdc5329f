// Long: the documents of GitHub and Stripe are fetched, imported and called.
import { apiDocument } from '../../support/apiDocuments/apiDocuments.ts';
import { startTestApp, type TestApp } from '../../support/http/app.ts';
import { trustedCertificate } from '../../support/servers/tls.ts';
import { formFields } from '../../support/tools/formFields.ts';
import { answering, makeTool, startToolServer, type ToolServer, tryTool } from '../../support/tools/httpTools.ts';

let app: TestApp;
let server: ToolServer;
let certificate: Awaited<ReturnType<typeof trustedCertificate>>;
beforeAll(async () => {
  certificate = await trustedCertificate();
  server = await startToolServer(certificate);
  app = await startTestApp({ allowPrivateNetwork: true });
  for (const name of ['github', 'stripe'] as const) server.on(`/${name}.json`, answering(apiDocument(name)));
});
afterAll(async () => {
  certificate.forget();
  await Promise.all([app.close(), server.close()]);
});

/** Makes a tool of a document at an address, whose API is the test's server. */
const imported = (document: string, operations: string[], more: object = {}) =>
  makeTool(app, {
    toolType: 'CUSTOM_INTEGRATION',
    configuration: { openapi: `${server.origin}/${document}.json`, baseUrl: server.origin, operations, ...more },
  });
const lastReceived = () => server.received.at(-1);

describe('GitHub: 13 MB', () => {
  const operations = [
    'issues/create',
    'issues/list-for-repo',
    'repos/get-content',
    'GET /search/issues',
    'markdown/render-raw',
  ];

  test('named operations are imported, by operationId or by method and path, and called', async () => {
    const auth = { type: 'bearer', secret: 'ghp_7Qm2Lx93' };
    const { publicId, configuration } = await imported('github', operations, { auth });
    expect(configuration).toMatchObject({ openapi: `${server.origin}/github.json` });
    const repo = { owner: 'octo', repo: 'hello world' };

    const issue = { title: 'Broken', labels: ['bug', { name: 'p1' }], milestone: 3, assignee: null };
    expect(await tryTool(app, publicId, { operationId: 'issues/create', ...repo, body: issue })).toMatchObject({
      success: true,
    });
    expect(lastReceived()).toMatchObject({
      method: 'POST',
      url: '/repos/octo/hello%20world/issues',
      headers: { authorization: 'Bearer ghp_7Qm2Lx93', 'content-type': 'application/json' },
    });
    expect(JSON.parse(lastReceived()?.body ?? '')).toEqual(issue);

    await tryTool(app, publicId, { operationId: 'issues/list-for-repo', ...repo, labels: 'bug,p1', per_page: 5 });
    expect(Object.fromEntries(new URL(lastReceived()?.url ?? '', server.origin).searchParams)).toMatchObject({
      labels: 'bug,p1',
      per_page: '5',
    });

    await tryTool(app, publicId, { operationId: 'repos/get-content', ...repo, path: 'docs/a b.md' });
    expect(lastReceived()?.url).toBe('/repos/octo/hello%20world/contents/docs%2Fa%20b.md');

    await tryTool(app, publicId, { operationId: 'search/issues-and-pull-requests', q: 'is:issue a&b' });
    expect(lastReceived()?.url).toMatch(/^\/search\/issues\?q=is%3Aissue%20a%26b(?:&|$)/);

    await tryTool(app, publicId, { operationId: 'markdown/render-raw', body: '**é**' });
    expect(lastReceived()).toMatchObject({ headers: { 'content-type': 'text/plain; charset=utf-8' }, body: '**é**' });
  });

  test('what is stored is the operations, not the document', async () => {
    const { publicId } = await imported('github', operations);
    const stored = await app.database.database.system
      .selectFrom('http_tools')
      .select(['configuration', 'operations'])
      .where('id', '=', publicId)
      .executeTakeFirstOrThrow();
    expect(JSON.stringify(stored.configuration).length).toBeLessThan(1_000);
    expect(stored.operations).toHaveLength(operations.length);
    expect(JSON.stringify(stored.operations).length).toBeLessThan(20_000);
  });

  test('an operation that is not there is named', async () => {
    const configuration = { openapi: `${server.origin}/github.json`, operations: ['issues/create', 'issues/creat'] };
    const body = { name: 'github', toolType: 'CUSTOM_INTEGRATION', configuration };
    const answer = await app.api('post', '/http-tools').send(body);
    expect([answer.status, answer.body.code]).toEqual([422, 'INVALID_TOOL_CONFIGURATION']);
    expect(answer.body.details).toEqual([
      {
        path: '/body/configuration/operations/1',
        message: 'is no operation of the document: write its operationId, or its method and path, such as GET /orders',
        keyword: 'openapi',
      },
    ]);
  });
});

describe('a document within the request', () => {
  const create = (name: string, configuration: object) =>
    app.api('post', '/http-tools').send({ name, toolType: 'CUSTOM_INTEGRATION', configuration });

  test('of 13 MB only the named operations are stored, under the names by which they were imported', async () => {
    const openapi = JSON.parse(apiDocument('github').toString());
    delete openapi.paths['/gists'].post.operationId;
    const operations = ['issues/create', 'post_gists', 'GET /repos/{owner}/{repo}/pulls'];
    const created = await create('github_within', { openapi, operations, baseUrl: server.origin });
    expect([created.status, created.body.code]).toEqual([201, undefined]);
    const { publicId, configuration } = created.body;
    expect(JSON.stringify(configuration).length).toBeLessThan(20_000);
    expect(Object.keys(configuration.openapi.paths)).toEqual([
      '/repos/{owner}/{repo}/issues',
      '/gists',
      '/repos/{owner}/{repo}/pulls',
    ]);
    expect(Object.keys(configuration.openapi.components)).toEqual(['parameters']);
    expect(configuration.openapi.paths['/gists'].post.operationId).toBe('post_gists');
    await tryTool(app, publicId, { operationId: 'post_gists', body: { files: { 'a.md': { content: 'A' } } } });
    expect(lastReceived()).toMatchObject({ url: '/gists', body: '{"files":{"a.md":{"content":"A"}}}' });

    // What is read back can be written again, and more of it cannot.
    const same = await app.api('patch', `/http-tools/${publicId}`).send({ configuration });
    expect([same.status, same.body.configuration]).toEqual([200, configuration]);
    const more = { configuration: { ...configuration, operations: [...operations, 'pulls/create'] } };
    expect((await app.api('patch', `/http-tools/${publicId}`).send(more)).status).toBe(422);
    const whole = { configuration: { ...configuration, openapi, operations: ['pulls/create'] } };
    const changed = await app.api('patch', `/http-tools/${publicId}`).send(whole);
    expect([changed.status, Object.keys(changed.body.configuration.openapi.paths)]).toEqual([
      200,
      ['/repos/{owner}/{repo}/pulls'],
    ]);
  });

  test('an operation that is not there, and a list that is none, are named as they are for small ones', async () => {
    const openapi = JSON.parse(apiDocument('stripe').toString());
    const answer = await create('stripe_within', { openapi, operations: ['PostCustomers', 'PostCustomer'] });
    expect([answer.status, answer.body.details]).toMatchObject([422, [{ path: '/body/configuration/operations/1' }]]);
    const none = await create('stripe_within', { openapi, operations: 'PostCustomers' });
    expect([none.status, none.body.details]).toMatchObject([422, [{ path: '/body/configuration/operations' }]]);
  });

  test('what is large besides its document is refused, and so is what is no JSON or has too many values', async () => {
    const large = 'x'.repeat(3 * 1024 * 1024);
    const openapi = { openapi: '3.1.0', 'x-a': large, paths: {} };
    const refused = await create('large', { openapi, operations: [large] });
    expect([refused.status, refused.body.code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
    const send = (body: string) => app.api('post', '/http-tools').set('content-type', 'application/json').send(body);
    expect((await send(`{"a":"${large}`)).status).toBe(413);
    expect((await send(`{"a":"${large.slice(0, 1024 * 1024)}`)).body).toMatchObject({
      status: 400,
      details: [{ path: '/body', keyword: 'parse' }],
    });
    expect((await send(`[${'0,'.repeat(1_600_000)}0]`)).body).toMatchObject({
      status: 400,
      details: [{ keyword: 'size' }],
    });
    expect((await send(`${'['.repeat(600_000)}${']'.repeat(600_000)}`)).body).toMatchObject({
      status: 400,
      details: [{ keyword: 'depth' }],
    });
  });
});

describe('Stripe: 8 MB', () => {
  test('bodies are forms as Stripe reads them', async () => {
    const { publicId } = await imported('stripe', ['PostSubscriptions', 'POST /v1/customers', 'GetSubscriptions']);
    const subscription = {
      customer: 'cus_1',
      items: [
        { price: 'price_1', quantity: 2, metadata: { seat: 'a&b' } },
        { price_data: { currency: 'eur', product: 'prod_1' } },
      ],
      expand: ['latest_invoice', 'customer'],
      metadata: { order: '17', 'with space': 'é=1' },
      cancel_at_period_end: false,
      default_tax_rates: '',
      trial_end: 'now',
    };
    const result = await tryTool(app, publicId, { operationId: 'PostSubscriptions', body: subscription });
    expect(result).toMatchObject({ success: true });
    expect(lastReceived()).toMatchObject({
      method: 'POST',
      url: '/v1/subscriptions',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect(formFields(lastReceived()?.body ?? '')).toEqual({
      ...subscription,
      items: [{ ...subscription.items[0], quantity: '2' }, subscription.items[1]],
      cancel_at_period_end: 'false',
    });
    expect(decodeURIComponent(lastReceived()?.body ?? '')).toContain('items[0][price]=price_1');
    expect(decodeURIComponent(lastReceived()?.body ?? '')).toContain('expand[]=latest_invoice&expand[]=customer');

    await tryTool(app, publicId, {
      operationId: 'PostCustomers',
      body: { address: { city: 'Köln' }, email: 'a+b@x.example' },
    });
    expect(formFields(lastReceived()?.body ?? '')).toEqual({ address: { city: 'Köln' }, email: 'a+b@x.example' });

    const query = { created: { gte: 1, lt: 9 }, limit: 3, expand: ['data.customer'] };
    await tryTool(app, publicId, { operationId: 'GetSubscriptions', ...query });
    expect(formFields(new URL(lastReceived()?.url ?? '', server.origin).search.slice(1))).toEqual({
      created: { gte: '1', lt: '9' },
      limit: '3',
      expand: ['data.customer'],
    });
    await tryTool(app, publicId, { operationId: 'GetSubscriptions', created: 17 });
    expect(lastReceived()?.url).toBe('/v1/subscriptions?created=17');
  });

  test('inputs that do not fit are refused before anything is sent', async () => {
    const { publicId } = await imported('stripe', ['PostRefunds']);
    const before = server.received.length;
    expect(await tryTool(app, publicId, { body: { charge: 'ch_1', amount: 'all' } })).toMatchObject({ success: false });
    expect(await tryTool(app, publicId, { body: { charges: 'ch_1' } })).toMatchObject({ success: false });
    expect(server.received).toHaveLength(before);
  });
});
