import type { JsonObject } from '../../../../clients/code/json.ts';
import type { Entry, Kind } from '../../../../clients/code/kind.ts';
import { couponKind } from '../../../../clients/code/kinds/coupon.ts';
import { creditPackageKind } from '../../../../clients/code/kinds/creditPackage.ts';
import { externalLinkKind } from '../../../../clients/code/kinds/externalLink.ts';
import { httpToolKind } from '../../../../clients/code/kinds/httpTool.ts';
import { hubKind } from '../../../../clients/code/kinds/hub.ts';
import { knowledgeSourceKind } from '../../../../clients/code/kinds/knowledgeSource.ts';
import { mcpServerKind } from '../../../../clients/code/kinds/mcpServer.ts';
import { planKind } from '../../../../clients/code/kinds/plan.ts';
import { skillKind } from '../../../../clients/code/kinds/skill.ts';
import { startTestApp, type TestApp } from '../../../support/http/app.ts';
import { pngOf, svgOf } from '../../../support/hub/pictures.ts';
import { Bench, compared, entryOf } from './bench.ts';

let app: TestApp;
let bench: Bench;

beforeAll(async () => {
  app = await startTestApp();
});
beforeEach(() => {
  bench = new Bench(app, app.workspace);
});
afterAll(() => app.close());

type Files = Record<string, string | Uint8Array>;

/** Makes the entry of a file and reads it back. */
async function made(
  kind: Kind,
  name: string,
  yaml: JsonObject,
  files: Files = {},
): Promise<{ id: string; entry: Entry }> {
  const entry = await entryOf(kind, name, yaml, files);
  expect(kind.refusal?.(undefined, undefined, entry)).toBeUndefined();
  const id = await bench.create(kind, entry);
  expect(compared(await bench.read(kind, id))).toEqual(compared(entry));
  return { id, entry };
}

/** Changes it to that of another file and reads it back. */
async function changed(
  kind: Kind,
  { id, entry }: { id: string; entry: Entry },
  name: string,
  yaml: JsonObject,
  files: Files = {},
): Promise<{ id: string; entry: Entry }> {
  const after = await entryOf(kind, name, yaml, files);
  expect(await refusalOf(kind, id, entry, after)).toBeUndefined();
  const now = await bench.change(kind, id, await bench.read(kind, id), after);
  expect(compared(await bench.read(kind, now))).toEqual(compared(after));
  return { id: now, entry: after };
}

async function refusalOf(kind: Kind, id: string, before: Entry, after: Entry | undefined): Promise<string | undefined> {
  const listed = (await kind.list(bench.context())).find((each) => each.id === id);
  return kind.refusal?.(listed, before, after);
}

const REQUEST = { url: 'https://shop.example.com/orders', headers: { 'X-Key': '{{secret.key}}' } };
const withSecret = (reference: string, more: JsonObject = {}) => ({
  toolType: 'HTTP_REQUEST',
  description: 'Finds an order.',
  configuration: { ...REQUEST, secrets: { key: reference }, ...more },
});

describe('a tool', () => {
  test('of each type is read back as its file says', async () => {
    await made(httpToolKind, 'request', withSecret('env:TOOL_REQUEST_KEY'));
    bench.secrets['env:SHOP_DB'] = 'postgres://reader:secret@db.example.com/shop';
    await made(httpToolKind, 'query', {
      toolType: 'DATABASE_QUERY',
      requiresApproval: true,
      configuration: { connection: 'env:SHOP_DB', query: 'select 1' },
    });
    await made(httpToolKind, 'variable', {
      toolType: 'INTERNAL_VARIABLE',
      configuration: { name: 'mood', type: 'string', scope: 'workspace', defaultValue: null },
    });
    const operation = { operationId: 'track', responses: { 200: { description: 'Ok.' } } };
    const openapi = {
      openapi: '3.1.0',
      info: { title: 'Parcels', version: '1' },
      paths: { '/track': { get: operation } },
    };
    const auth = { type: 'bearer', secret: 'file:parcels' };
    await made(httpToolKind, 'api', {
      toolType: 'CUSTOM_INTEGRATION',
      configuration: { openapi, baseUrl: 'https://parcels.example.com', operations: ['track'], auth },
    });
    expect(bench.asked).toEqual(['env:TOOL_REQUEST_KEY', 'env:SHOP_DB', 'file:parcels']);
  });

  test('with a document of which the service keeps a part only is refused', async () => {
    const openapi = { openapi: '3.1.0', info: { title: 'x'.repeat(524_288), version: '1' }, paths: {} };
    const configuration = { openapi, operations: ['track'] };
    await expect(entryOf(httpToolKind, 'api', { toolType: 'CUSTOM_INTEGRATION', configuration })).rejects.toThrow(
      /has more than 524288 characters. Give the https address/,
    );
  });

  test('gets its secret again only where it must', async () => {
    const tool = await made(httpToolKind, 'secretive', withSecret('env:A'));
    bench.asked.length = 0;
    let now = await changed(httpToolKind, tool, 'renamed', { ...withSecret('env:A'), description: 'Else.' });
    now = await changed(httpToolKind, now, 'renamed', withSecret('env:A', { timeoutSeconds: 5 }));
    expect(bench.asked).toEqual([]);
    now = await changed(httpToolKind, now, 'renamed', withSecret('env:B', { timeoutSeconds: 5 }));
    expect(bench.asked).toEqual(['env:B']);
    now = await changed(httpToolKind, now, 'renamed', withSecret('env:B', { url: 'https://other.example.com/' }));
    expect(bench.asked).toEqual(['env:B', 'env:B']);
    await bench.change(httpToolKind, now.id, now.entry, now.entry, { resendSecrets: true });
    expect(bench.asked).toEqual(['env:B', 'env:B', 'env:B']);
    expect(JSON.stringify(bench.kept(now.id))).not.toContain('value of');
  });

  test('tells before anything happens which secrets it will ask for', async () => {
    const before = await entryOf(httpToolKind, 'x', withSecret('env:A'));
    const other = await entryOf(httpToolKind, 'x', { ...withSecret('env:A'), description: 'Else.' });
    const at = ['configuration', 'secrets', 'key'];
    expect(httpToolKind.secrets?.(undefined, before, false)).toEqual([{ reference: 'env:A', at }]);
    expect(httpToolKind.secrets?.(before, other, false)).toEqual([]);
    expect(httpToolKind.secrets?.(before, other, true)).toEqual([{ reference: 'env:A', at }]);
  });

  test('that was made elsewhere gets a reference by its name', async () => {
    const { id } = await made(httpToolKind, 'from-console', withSecret('env:OWN'));
    bench.forget(id);
    const { fields } = await bench.read(httpToolKind, id);
    expect(fields.configuration).toMatchObject({ secrets: { key: 'env:TOOL_FROM_CONSOLE_KEY' } });
  });

  test('is refused with a secret in its file, without repeating it', async () => {
    const fault = entryOf(httpToolKind, 'x', withSecret('hunter2'));
    await expect(fault).rejects.toThrow(/^configuration.secrets.key: .*env:NAME/);
    await expect(fault).rejects.not.toThrow('hunter2');
  });

  test('keeps its type', async () => {
    const { id, entry } = await made(httpToolKind, 'typed', withSecret('env:A'));
    const other = await entryOf(httpToolKind, 'typed', { toolType: 'INTERNAL_VARIABLE', configuration: {} });
    expect(await refusalOf(httpToolKind, id, entry, other)).toBe('`toolType` cannot change once it exists');
  });
});

describe('an MCP server', () => {
  const url = 'https://127.0.0.1:9/mcp';

  test('is read back with every way to authenticate', async () => {
    await made(mcpServerKind, 'open', { url });
    await made(mcpServerKind, 'bearer', { url, authType: 'BEARER_TOKEN', authValue: 'env:T' });
    await made(mcpServerKind, 'key', { url, authType: 'API_KEY', authHeaderName: 'X-Own', authValue: 'env:K' });
    const headers = [
      { name: 'X-One', value: 'env:ONE' },
      { name: 'X-Two', value: 'file:two' },
    ];
    const server = await made(mcpServerKind, 'custom', { url, authType: 'CUSTOM_HEADER', authHeaders: headers });
    expect(bench.warnings[0]).toMatch('is stored, but not connected');
    const moved = { url: 'https://127.0.0.1:8/mcp', authType: 'CUSTOM_HEADER', authHeaders: headers };
    const now = await changed(mcpServerKind, server, 'moved', moved);
    await changed(mcpServerKind, now, 'opened', { url });
  });

  test('whose headers nobody knows is left alone, and cannot be made elsewhere', async () => {
    const authHeaders = [{ name: 'X-One', value: 'env:ONE' }];
    const { id } = await made(mcpServerKind, 'foreign', { url, authType: 'CUSTOM_HEADER', authHeaders });
    bench.forget(id);
    const read = await bench.read(mcpServerKind, id);
    expect(read.fields).toEqual({ url, authType: 'CUSTOM_HEADER' });
    expect(mcpServerKind.refusal?.(undefined, read, read)).toBeUndefined();
    expect(mcpServerKind.refusal?.(undefined, undefined, read)).toMatch('needs `authHeaders`');
  });
});

describe('a knowledge source', () => {
  test('is read back; another content makes another source', async () => {
    const text = { sourceType: 'TEXT_INPUT', file: 'faq.md' };
    const source = await made(knowledgeSourceKind, 'FAQ / questions', text, { 'faq.md': 'One.' });
    const file = await made(knowledgeSourceKind, 'Prices', { file: 'a/prices.csv' }, { 'a/prices.csv': 'a,b\n1,2\n' });
    const named = await changed(
      knowledgeSourceKind,
      source,
      'FAQ',
      { ...text, description: 'All.' },
      { 'faq.md': 'One.' },
    );
    expect(named.id).toBe(source.id);
    const replaced = await changed(knowledgeSourceKind, named, 'FAQ', text, { 'faq.md': 'Two.' });
    expect(replaced.id).not.toBe(source.id);
    const moved = await changed(knowledgeSourceKind, file, 'Prices', { file: 'p.csv' }, { 'p.csv': 'a,b\n1,2\n' });
    expect(moved.id).toBe(file.id);
  });

  test('from elsewhere says that its content is missing, and cannot be made in another workspace', async () => {
    const { id } = await made(knowledgeSourceKind, 'Unknown', { file: 'u.txt' }, { 'u.txt': 'U.' });
    bench.forget(id);
    const read = await bench.read(knowledgeSourceKind, id);
    const { yaml } = knowledgeSourceKind.toFile?.(read) ?? {};
    expect(yaml).toEqual({ content: 'missing' });
    const again = await entryOf(knowledgeSourceKind, 'Unknown', yaml ?? {});
    expect(compared(again)).toEqual(compared(read));
    expect(await refusalOf(knowledgeSourceKind, id, read, again)).toBeUndefined();
    expect(knowledgeSourceKind.refusal?.(undefined, undefined, again)).toMatch('put its file into knowledge/');
  });
});

describe('a skill', () => {
  const md = (body: string, name = 'triage', description = 'Sorts mail.') =>
    `---\nname: ${name}\ndescription: ${description}\n---\n\n${body}\n`;

  test('is a folder; other files make another skill of the same name', async () => {
    const files = { 'skill.yaml': '', 'SKILL.md': md('One.'), 'scripts/run.py': 'print(1)\n' };
    const skill = await made(skillKind, 'triage', {}, files);
    expect(skill.entry.fields).toEqual({ description: 'Sorts mail.' });
    const named = await changed(skillKind, skill, 'Triage / EU', { description: 'Else.' }, files);
    expect(named.id).toBe(skill.id);
    const replaced = await changed(skillKind, named, 'Triage / EU', {}, { ...files, 'SKILL.md': md('Two.') });
    expect(replaced.id).not.toBe(skill.id);
    const same = await made(skillKind, 'triage', {}, files);
    // The name in its SKILL.md is that of the one above.
    const other = await made(skillKind, 'triage-us', { description: 'Sorts mail.' }, { 'SKILL.md': md('US.') });
    expect((await bench.read(skillKind, same.id)).name).toBe('triage');
    expect((await bench.read(skillKind, other.id)).name).toBe('triage-us');
  });

  test('whose upload got no answer is found again, and a skill that somebody else made is not taken for it', async () => {
    const files = { 'SKILL.md': md('One.', 'lost') };
    const { id, entry } = await made(skillKind, 'lost', {}, files);
    await expect(bench.create(skillKind, entry)).rejects.toThrow('name');
    bench.forget(id);
    expect(await bench.create(skillKind, entry)).toBe(id);
    bench.forget(id);
    const longer = await entryOf(skillKind, 'lost', {}, { 'SKILL.md': md('One and two.', 'lost') });
    await expect(bench.create(skillKind, longer)).rejects.toThrow('name');
  });

  test('that the service refuses leaves the present one as it was', async () => {
    const { id, entry } = await made(skillKind, 'kept', {}, { 'SKILL.md': md('One.', 'kept') });
    const broken = await entryOf(skillKind, 'kept', {}, { 'SKILL.md': 'no front matter' });
    await expect(bench.change(skillKind, id, entry, broken)).rejects.toThrow('front matter');
    expect(compared(await bench.read(skillKind, id))).toEqual(compared(entry));
  });

  test('from elsewhere says that its content is missing', async () => {
    const { id } = await made(skillKind, 'unknown', {}, { 'SKILL.md': md('One.', 'unknown') });
    bench.forget(id);
    const { yaml } = skillKind.toFile?.(await bench.read(skillKind, id)) ?? {};
    expect(yaml).toEqual({ description: 'Sorts mail.', content: 'missing' });
    const again = await entryOf(skillKind, 'unknown', yaml ?? {}, { 'skill.yaml': '' });
    expect(skillKind.refusal?.(undefined, undefined, again)).toMatch('put its SKILL.md');
    await expect(entryOf(skillKind, 'x', {}, { 'notes.md': 'x' })).rejects.toThrow('has no SKILL.md');
    // Front matter that cannot be read is the service's to refuse.
    for (const yaml of ['a: &x [1]\nb: *x', 'a: [', '- a', ''])
      expect((await entryOf(skillKind, 'x', {}, { 'SKILL.md': `---\n${yaml}\n---\n` })).fields).toEqual({});
  });
});

describe('what the hub sells', () => {
  test('is read back, and changes as far as the API lets it', async () => {
    const agent = await bench.api.call('createAgent', { body: { name: 'Shop' } });
    bench.name('agent', 'Shop', agent.publicId);
    const link = await made(externalLinkKind, 'Docs', { url: 'https://docs.example.com' });
    const pack = await made(creditPackageKind, 'Small', { creditValueCents: 2, creditsAmount: 100 });
    await changed(creditPackageKind, pack, 'Small', { creditValueCents: 3, creditsAmount: 100, extraCreditsAmount: 5 });
    const content = {
      agents: ['Shop'],
      pages: ['home', 'agents'],
      externalLinks: ['Docs'],
      sections: ['support', 'chat'],
    };
    const terms = {
      billingType: 'recurring',
      billingIntervalMonths: 1,
      priceCents: 0,
      currency: 'usd',
      seatsIncluded: 3,
      creditPackage: 'Small',
      content,
    };
    const widget = { widgetTitle: 'Go', widgetHighlighted: true, widgetFeatures: [{ included: true, text: 'All' }] };
    const plan = await made(planKind, 'Free / trial', { ...terms, ...widget, status: 'inactive' });
    expect(planKind.references?.(plan.entry)).toHaveLength(3);
    bench.name('agent', 'Store', agent.publicId);
    const renamed = { ...terms, content: { ...content, agents: ['Store'] } };
    const packageId = bench.kept(plan.id)?.package;
    const now = await changed(planKind, plan, 'Free', { ...renamed, priceCents: 900 });
    expect(bench.kept(now.id)?.package).toBe(packageId);
    const other = await changed(planKind, now, 'Free', { ...renamed, content: { agents: ['Store'], pages: ['home'] } });
    expect(bench.kept(other.id)?.package).not.toBe(packageId);
    const euro = await entryOf(planKind, 'Free', { ...renamed, currency: 'EUR', priceCents: 900 });
    expect(await refusalOf(planKind, now.id, now.entry, euro)).toBe('`currency` cannot change once it exists');
    const listed = { id: now.id, name: 'Free', raw: { activeSubscriptions: 2 } };
    const dear = await entryOf(planKind, 'Free', { ...renamed, priceCents: 1000 });
    expect(planKind.refusal?.(listed, now.entry, dear)).toMatch('2 clients are on it, so its price is fixed');
    expect(planKind.refusal?.(listed, now.entry, undefined)).toMatch('2 clients are on it');

    const coupon = { discountType: 'percentage', discountValue: 10, duration: 'once', scope: 'plans', plans: ['Free'] };
    const sale = await made(couponKind, 'SALE', { ...coupon, active: false, name: 'Sale', maxUses: 5 });
    const more = await changed(couponKind, sale, 'SALE', {
      ...coupon,
      maxUses: 9,
      validUntil: '2999-01-01T00:00:00+01:00',
    });
    const used = { id: sale.id, name: 'SALE', raw: { timesUsed: 7 } };
    const fewer = await entryOf(couponKind, 'SALE', { ...more.entry.fields, maxUses: 3 });
    expect(couponKind.refusal?.(used, more.entry, fewer)).toMatch('was redeemed 7 times');
    const half = await entryOf(couponKind, 'SALE', { ...more.entry.fields, discountValue: 50 });
    expect(couponKind.refusal?.(used, more.entry, half)).toBe('`discountValue` cannot change once it exists');
    const { maxUses: _uses, ...unlimited } = more.entry.fields;
    expect(couponKind.refusal?.(used, more.entry, { ...more.entry, fields: unlimited })).toMatch(
      'cannot be taken away',
    );
    const over = await entryOf(couponKind, 'OLD', { ...coupon, validUntil: '2001-01-01T00:00:00Z' });
    expect(couponKind.refusal?.(undefined, undefined, over)).toMatch('has expired');

    for (const [kind, id] of [
      [couponKind, sale.id],
      [planKind, plan.id],
      [creditPackageKind, pack.id],
      [externalLinkKind, link.id],
    ] as const) {
      await kind.remove?.(id, bench.context());
      expect((await kind.list(bench.context())).map((each) => each.id)).not.toContain(id);
    }
  });

  test('a plan from elsewhere says that its content is missing', async () => {
    const agent = await bench.api.call('createAgent', { body: { name: 'Lost' } });
    bench.name('agent', 'Lost', agent.publicId);
    const terms = {
      billingType: 'one_time',
      billingIntervalMonths: 0,
      priceCents: 0,
      currency: 'USD',
      seatsIncluded: 1,
    };
    const plan = await made(planKind, 'Lost', { ...terms, content: { agents: ['Lost'], pages: ['home'] } });
    // Somebody gives it another content: what the lock file has is not what the plan has any more.
    const content = { agents: [{ agentPublicId: agent.publicId }], pages: ['settings' as const] };
    await bench.api.call('updatePlan', { path: { planPublicId: plan.id }, body: { content } });
    expect((await bench.read(planKind, plan.id)).fields).not.toHaveProperty('content');
    bench.forget(plan.id);
    const { yaml } = planKind.toFile?.(await bench.read(planKind, plan.id)) ?? {};
    expect(yaml).toEqual({ ...terms, content: 'missing' });
    const again = await entryOf(planKind, 'Lost', yaml ?? {});
    expect(compared(await bench.read(planKind, plan.id))).toEqual(compared(again));
    expect(planKind.refusal?.(undefined, undefined, again)).toMatch('agents and pages');
  });
});

describe('the hub', () => {
  test('is read back with its logos, which are fetched once', async () => {
    const [listed] = await hubKind.list(bench.context());
    const id = listed?.id ?? '';
    const files = { 'logos/brand.svg': svgOf(), 'logos/icon.png': pngOf(7) };
    const yaml = {
      name: 'Acme agents',
      primaryColor: '#0F62FE',
      supportEmail: 'help@example.com',
      selfServiceEnabled: true,
      subdomain: 'acme-kinds',
      logos: { horizontal: 'logos/brand.svg', icon: 'logos/icon.png' },
    };
    const hub = { id, entry: await bench.read(hubKind, id) };
    const now = await changed(hubKind, hub, 'hub', yaml, files);
    expect((await bench.read(hubKind, id)).files['logos/icon.png']?.bytes).toBeUndefined();
    bench.forget(id);
    const fresh = await bench.read(hubKind, id);
    expect(fresh.fields).toMatchObject({ logos: { horizontal: 'logos/horizontal.svg', icon: 'logos/icon.png' } });
    expect(fresh.fields).not.toHaveProperty('subdomain');
    expect(Buffer.from(fresh.files['logos/icon.png']?.bytes ?? [])).toEqual(pngOf(7));
    const bare = await entryOf(hubKind, 'hub', { name: 'Acme agents' });
    expect(hubKind.refusal?.(undefined, now.entry, bare)).toMatch(
      '`primaryColor`, `supportEmail` cannot be taken away',
    );
    const kept = hubKind.keep?.(now.entry, bare) as Entry;
    expect(hubKind.refusal?.(undefined, now.entry, kept)).toBeUndefined();
    expect(kept.fields.logos).toEqual(yaml.logos);
    await changed(hubKind, now, 'hub', { ...yaml, logos: { icon: 'logos/icon.png' } }, files);
  });

  test('refuses a logo that is no picture, before anything is sent', async () => {
    const yaml = { logos: { icon: 'icon.png' } };
    for (const content of ['GIF89a', '<!DOCTYPE html><svg>', ''])
      await expect(entryOf(hubKind, 'hub', yaml, { 'icon.png': content })).rejects.toThrow('is not a PNG');
    await expect(entryOf(hubKind, 'hub', yaml)).rejects.toThrow('icon.png is missing');
  });
});
