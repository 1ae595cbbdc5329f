import { API_PREFIX } from '../../../../generated/operations.ts';
import { begun, send } from '../../../http/messages/turns.ts';
import { type CodeFolder, useCodeFolders } from '../../../support/clients/codeFolder.ts';
import { useModelApp } from '../../../support/http/modelApp.ts';
import { pngOf, svgOf } from '../../../support/hub/pictures.ts';

const here = useModelApp({ tools: true });
const folder = useCodeFolders(() => here.app);

const skill = (body: string) => `---\nname: greeting\ndescription: How to greet.\n---\n\n${body}\n`;

const tool = (path: string) => `name: find-order
description: Finds an order.
toolType: HTTP_REQUEST
configuration:
  url: ${here.tools.origin}${path}
  headers: {X-Key: "{{secret.key}}"}
  secrets: {key: env:SHOP_KEY}
`;

const shop = () => ({
  'guildhall.yaml': 'formatVersion: 1\n',
  'agents/shop/agent.yaml': `name: Shop
model: openai/gpt-4.1
tools: [find-order]
knowledge: [Returns]
skills: [greeting]
automations:
  - {name: Morning, prompt: Sum up., triggerMode: schedule, schedule: 0 9 * * 1-5, timezone: Europe/Berlin}
`,
  'agents/shop/prompt.md': 'You sell hats.\n',
  'http-tools/find-order.yaml': tool('/one'),
  'knowledge/returns.yaml': 'name: Returns\nfile: returns.md\n',
  'knowledge/returns.md': 'Thirty days.\n',
  'skills/greeting/skill.yaml': 'name: greeting\n',
  'skills/greeting/SKILL.md': skill('Say hello.'),
});

/** Runs a command that must end well. */
async function ok(project: CodeFolder, argv: string[], key: string, env: Record<string, string> = {}): Promise<string> {
  const { code, out, err } = await project.run(argv, { key, env });
  if (code !== 0) throw new Error(`${argv.join(' ')} ended with ${code}: ${out}${err}`);
  return out + err;
}

const read = async (path: string, key: string) => (await here.app.api('get', path, key).expect(200)).body;
const newKey = async () => (await here.app.database.seedWorkspace()).apiKey;

test('a change is tried in staging and promoted to production, where conversations go on', async () => {
  const project = await folder();
  const [staging, production] = [here.app.workspace.apiKey, here.app.stranger.apiKey];
  const secrets = { [staging]: { SHOP_KEY: 'staging key' }, [production]: { SHOP_KEY: 'production key' } };
  await project.write(shop());
  for (const key of [staging, production]) await ok(project, ['apply', '--yes'], key, secrets[key]);
  const before = (await read('/agents', production)).items[0];
  const [source] = (await read('/knowledge-sources', production)).items;
  const conversationId = await begun(here.app, before.publicId, 'Hello.', production);

  await project.write({
    'agents/shop/prompt.md': 'You sell umbrellas.\n',
    'http-tools/find-order.yaml': tool('/two'),
    'knowledge/returns.md': 'Sixty days.\n',
    'skills/greeting/SKILL.md': skill('Say good morning.'),
  });
  await ok(project, ['apply', '--yes'], staging, secrets[staging]);
  expect((await project.run(['plan', '--exit-code'], { key: staging })).code).toBe(0);
  expect((await project.run(['plan', '--exit-code'], { key: production })).code).toBe(6);
  expect((await read('/agents', production)).items[0].publishedVersionNumber).toBe(1);
  await ok(project, ['apply', '--yes'], production, secrets[production]);
  expect((await project.run(['plan', '--exit-code'], { key: production })).code).toBe(0);

  const after = (await read('/agents', production)).items[0];
  expect(after).toMatchObject({ publicId: before.publicId, publishedVersionNumber: 2 });
  here.server.reset();
  await send(here.app, before.publicId, { content: 'And now?', conversationId }, production).expect(200);
  expect(JSON.stringify(here.server.requests[0]?.body)).toContain('You sell umbrellas.');
  const [found] = (await read('/http-tools', production)).items;
  await here.app.api('post', `/http-tools/${found.publicId}/test`, production).send({ inputs: {} }).expect(200);
  expect(here.tools.received).toMatchObject([{ url: '/two', headers: { 'x-key': 'production key' } }]);
  const links = await read(`/agents/${before.publicId}/knowledge-sources`, production);
  expect(links).toMatchObject([{ knowledgeSourceName: 'Returns' }]);
  expect(links[0].knowledgeSourcePublicId).not.toBe(source.publicId);
  expect((await read('/knowledge-sources', production)).total).toBe(1);
  expect((await read('/skills', production)).items).toMatchObject([{ name: 'greeting' }]);

  const lock = await project.read('guildhall.lock.json');
  for (const value of ['staging key', 'production key']) expect(lock).not.toContain(value);
  const ids = Object.values<object>(JSON.parse(lock).workspaces).map(
    (workspace) => new Set(JSON.stringify(workspace).match(/"id":\s*"[^"]+"/g)),
  );
  expect(ids).toHaveLength(2);
  expect(ids[0]?.isDisjointFrom(ids[1] as Set<string>)).toBe(true);
});

test('a secret that is missing is named before anything changes, and no plan shows one', async () => {
  const [project, key] = [await folder(), await newKey()];
  await project.write(shop());
  const missing = await project.run(['apply', '--yes'], { key });
  expect(missing).toMatchObject({ code: 2 });
  expect(missing.err + missing.out).toMatch(/http-tools\/find-order\.yaml:\d+/);
  expect(missing.err + missing.out).toContain('env:SHOP_KEY');
  for (const path of ['/http-tools', '/agents', '/skills']) expect((await read(path, key)).total).toBe(0);
  const env = { SHOP_KEY: 'hunter2 hunter2' };
  const planned = await ok(project, ['plan'], key, env);
  const applied = await ok(project, ['apply', '--yes'], key, env);
  expect(planned + applied).not.toContain('hunter2');
  // The second time no value is needed, and none is sent.
  expect((await project.run(['plan', '--exit-code'], { key })).code).toBe(0);
  await ok(project, ['apply', '--yes'], key);
  await ok(project, ['apply', '--yes', '--secrets'], key, { SHOP_KEY: 'rotated' });
  const [found] = (await read('/http-tools', key)).items;
  await here.app.api('post', `/http-tools/${found.publicId}/test`, key).send({ inputs: {} }).expect(200);
  expect(here.tools.received).toMatchObject([{ headers: { 'x-key': 'rotated' } }]);
  // A file outside of the folder is no secret of it.
  await project.write({ 'http-tools/find-order.yaml': tool('/one').replace('env:SHOP_KEY', 'file:../../etc/passwd') });
  const outside = await project.run(['apply', '--yes'], { key });
  expect(outside).toMatchObject({ code: 2 });
  expect(outside.err + outside.out).toMatch(/find-order\.yaml.*(outside of the folder|does not exist)/s);
});

test('the hub, what it sells and automations come back from another workspace as they went', async () => {
  const [one, other] = [await newKey(), await newKey()];
  const project = await folder();
  const env = { SHOP_KEY: 'k', HOOK_SECRET: 'sixteen characters' };
  const files = shop();
  files['agents/shop/agent.yaml'] += `  - name: On push
    prompt: Read it.
    status: inactive
    hitlMode: auto_approve
    triggerMode: webhook
    triggerToolkitSlug: github
    triggerSlug: GITHUB_PUSH
    triggerConfig: {signingSecret: env:HOOK_SECRET, repository: acme/shop}
`;
  await project.write({
    ...files,
    'hub/hub.yaml': `name: Acme agents
theme: dark
primaryColor: "#0F62FE"
accessType: public
defaultPlan: Free / trial
selfServiceEnabled: true
supportChannelType: email
supportChannelValue: help@example.com
logos: {horizontal: logos/brand.svg, icon: logos/icon.png}
`,
    'hub/logos/brand.svg': svgOf(),
    'hub/logos/icon.png': pngOf(3),
    'hub/links.yaml': '- {title: Zebra, url: "https://z.example.com"}\n- {title: Docs, url: "https://d.example.com"}\n',
    'hub/credit-packages.yaml': '- {name: Small, creditValueCents: 1, creditsAmount: 100}\n',
    'hub/plans/free.yaml': `name: Free / trial
billingType: recurring
billingIntervalMonths: 1
priceCents: 0
currency: USD
seatsIncluded: 2
creditPackage: Small
widgetTitle: Try
content: {agents: [Shop], pages: [home], externalLinks: [Zebra]}
`,
    'hub/coupons/sale.yaml': `code: SALE
discountType: percentage
discountValue: 20
duration: once
scope: plans
plans: [Free / trial]
`,
  });
  await ok(project, ['apply', '--yes'], one, env);
  expect((await project.run(['plan', '--exit-code'], { key: one })).code).toBe(0);
  await ok(project, ['pull', '--force'], one);
  const pulled = await project.files();
  expect(Object.keys(pulled)).toHaveLength(15);
  await ok(project, ['apply', '--yes'], other, env);
  expect((await project.run(['plan', '--exit-code'], { key: other })).code).toBe(0);
  await ok(project, ['pull', '--force'], other);
  expect(await project.files()).toEqual(pulled);
  expect((await read('/hub/external-links', other)).map(({ title }: { title: string }) => title)).toEqual([
    'Zebra',
    'Docs',
  ]);
  // From nothing, without the lock file, contents are missing: nothing pretends to have them.
  const bare = await folder();
  await ok(bare, ['pull'], one);
  expect(await bare.read('knowledge/returns.yaml')).toContain('content: missing');
  expect(await bare.read('hub/plans/free-trial.yaml')).toContain('content: missing');
  expect(await bare.read('hub/links.yaml')).toMatch(/Zebra.*Docs/s);
  expect(await bare.run(['plan', '--exit-code'], { key: one })).toMatchObject({ code: 0 });
  const third = await newKey();
  const named = { TOOL_FIND_ORDER_KEY: 'k', TRIGGER_ON_PUSH_SIGNING_SECRET: 'sixteen characters' };
  const refused = await bare.run(['apply', '--yes'], { key: third, env: named });
  expect(refused).toMatchObject({ code: 1 });
  expect(await bare.run(['plan', '--exit-code'], { key: third })).toMatchObject({ code: 6 });
  expect(refused.err).toMatch(/put its file into knowledge\//);
  expect((await read('/http-tools', third)).total).toBe(1);
});

test('what is wrong in a file of these kinds is named with its line, and what the service refuses with its field', async () => {
  const [project, key] = [await folder(), await newKey()];
  const agent = (secret: string) => `name: Hooked
automations:
  - name: push
    prompt: Read it.
    triggerMode: webhook
    triggerToolkitSlug: github
    triggerSlug: GITHUB_PUSH
    triggerConfig: {signingSecret: ${secret}}
  - {name: by hand, prompt: Sum up., triggerMode: manual, schedule: 0 9 * * *}
publish: false
`;
  await project.write({
    'guildhall.yaml': 'formatVersion: 1\n',
    'agents/hooked/agent.yaml': agent('hunter2-hunter2-hunter2'),
    'http-tools/query.yaml': 'name: query\ntoolType: DATABASE_QUERY\nconfiguration:\n  conection: env:DB\n',
    'hub/hub.yaml': 'name: Acme\nlogos: {icon: icon.png}\n',
    'hub/icon.png': 'no picture',
    'knowledge/a.yaml': 'name: a\nfile: ../../outside.md\n',
  });
  const { code, err } = await project.run(['plan'], { key });
  expect(code).toBe(2);
  expect(err).toContain('agents/hooked/agent.yaml:8: `signingSecret` must match');
  expect(err).toContain('http-tools/query.yaml:4: there is no field `conection` here. Did you mean `connection`?');
  expect(err).toContain('hub/hub.yaml:2: icon.png is not a PNG');
  expect(err).toContain('leads out of the folder');
  expect(err).not.toMatch(/hunter2|schema/);

  for (const path of ['http-tools', 'hub', 'knowledge']) await project.remove(path);
  const url = 'https://127.0.0.1:9/mcp';
  await project.write({
    'agents/hooked/agent.yaml': agent('env:HOOK_SECRET'),
    'mcp-servers/a.yaml': `name: a\nurl: ${url}\nauthType: BEARER_TOKEN\nauthValue: env:TOKEN\n`,
  });
  const env = { TOKEN: 'hunter2\nhunter2', HOOK_SECRET: 'sixteen characters' };
  const refused = await project.run(['apply', '--yes'], { key, env });
  expect(refused.code).toBe(1);
  expect(refused.err).toMatch(/mcp-server "a": .*authValue must match pattern/);
  expect(refused.err).toContain('new secret address');
  expect(refused.err).not.toContain('hunter2');
  await project.remove('mcp-servers');
  expect(await project.run(['plan', '--exit-code'], { key })).toMatchObject({ code: 0 });
});

test('a change that the API cannot make is shown and pending, and nobody is asked about it', async () => {
  const [project, key] = [await folder(), await newKey()];
  const coupon = (percent: number) =>
    `code: SALE\ndiscountType: percentage\ndiscountValue: ${percent}\nduration: once\nscope: hub\n`;
  await project.write({ 'guildhall.yaml': 'formatVersion: 1\n', 'hub/coupons/sale.yaml': coupon(10) });
  await ok(project, ['apply', '--yes'], key);
  await project.write({ 'hub/coupons/sale.yaml': coupon(20) });
  const planned = await project.run(['plan', '--exit-code'], { key });
  expect(planned).toMatchObject({ code: 6 });
  expect(planned.out).toContain('`discountValue` cannot change once it exists');
  const applied = await project.run(['apply'], { key });
  expect(applied).toMatchObject({ code: 1 });
  expect(applied.err).toContain('`discountValue` cannot change once it exists');
});

test('sources of one name have stable names of their own in the files, and each keeps its file', async () => {
  const [project, key] = [await folder(), await newKey()];
  const add = (textContent: string) =>
    here.app.api('post', '/knowledge-sources', key).send({ name: 'a / b', textContent }).expect(201);
  const older = (await add('One.')).body.publicId;
  await add('Two.');
  await ok(project, ['pull'], key);
  const first = await project.files();
  expect(Object.keys(first).filter((path) => path.startsWith('knowledge/'))).toHaveLength(2);
  await ok(project, ['pull'], key);
  expect(await project.files()).toEqual(first);
  await ok(project, ['apply', '--yes'], key);
  const { items } = await read('/knowledge-sources', key);
  expect(items.map(({ name }: { name: string }) => name).sort()).toEqual(['a / b', 'a / b (2)']);
  expect(items.find(({ name }: { name: string }) => name === 'a / b').publicId).toBe(older);
  await ok(project, ['pull'], key);
  expect(await project.files()).toEqual(first);
});

test('120 tools are one after the other in pages, and a second apply does nothing', async () => {
  const [project, key] = [await folder(), await newKey()];
  const names = Array.from({ length: 120 }, (_, index) => `tool-${index}`);
  const variable = (name: string) =>
    `name: ${name}\ntoolType: INTERNAL_VARIABLE\nconfiguration: {name: ${name}, type: string, scope: workspace}\n`;
  await project.write({
    'guildhall.yaml': 'formatVersion: 1\n',
    ...Object.fromEntries(names.map((name) => [`http-tools/${name}.yaml`, variable(name)])),
  });
  await ok(project, ['apply', '--yes'], key);
  let requests = 0;
  const counting: typeof fetch = (input, init) => {
    requests += `${input instanceof Request ? input.url : input}`.includes(`${API_PREFIX}/http-tools`) ? 1 : 0;
    return fetch(input, init);
  };
  const again = await project.run(['plan', '--exit-code'], { key, fetch: counting });
  expect(again.code).toBe(0);
  expect(requests).toBe(2);
});
