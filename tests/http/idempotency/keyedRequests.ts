import type supertest from 'supertest';
import type { OperationId } from '../../../generated/operations.ts';
import { makeAgent, makeReadyAgent, publish } from '../../support/agents/agents.ts';
import { linkApi, makeTarget } from '../../support/agents/links.ts';
import type { TestApp } from '../../support/http/app.ts';
import { exampleRequest } from '../../support/http/exampleRequest.ts';
import { contentOf, planFields } from '../../support/hub/plans.ts';
import { skillMd, zipOf } from '../../support/tools/skills.ts';
import { clientFields, makeClientOf } from '../clients/clients.ts';

/** A request that succeeds once: the second time it would answer something else, or store something more. */
export interface KeyedRequest {
  path: string;
  /** Undefined: the operation takes none. */
  body?: object;
  /** A body that the schema accepts as well. */
  otherBody?: object;
  /** In place of a body: the content of the file, and its name. */
  file?: { content: Buffer; name: string };
}

/** Sends it, with these headers. */
export function sendKeyed(
  app: TestApp,
  { path, body, file }: KeyedRequest,
  headers: Record<string, string>,
  key?: string,
): supertest.Test {
  const request = app.api('post', path, key).set(headers);
  if (file) return request.attach('file', file.content, file.name);
  return body === undefined ? request : request.send(body);
}

let made = 0;

async function linking(app: TestApp, kind: Parameters<typeof linkApi>[0]): Promise<KeyedRequest> {
  const { path, body } = linkApi(kind);
  const { publicId } = await makeAgent(app);
  const [target, other] = [await makeTarget(app, kind), await makeTarget(app, kind)];
  return { path: `/agents/${publicId}/${path}`, body: body(target), otherBody: body(other) };
}

/** A request for each operation that takes an Idempotency-Key and creates something. */
export const CREATES: Partial<Record<OperationId, (app: TestApp) => Promise<KeyedRequest>>> = {
  createAgent: async () => ({ path: '/agents', body: { name: `Keyed ${++made}` }, otherBody: { name: 'Another' } }),
  createClient: async () => {
    const body = clientFields({ sendInvitations: true });
    return { path: '/clients', body, otherBody: { ...body, workspaceName: 'Another' } };
  },
  resendClientInvitation: async (app) => {
    const { publicId, pendingInvitations } = await makeClientOf(app);
    return { path: `/clients/${publicId}/invitations/${pendingInvitations[0]?.publicId}/resend` };
  },
  publishAgent: async (app) => {
    // The answer has a header: there is no service for it.
    const { publicId } = await makeReadyAgent(app, { webSearchEnabled: true });
    return { path: `/agents/${publicId}/publish`, body: { notes: 'One.' }, otherBody: { notes: 'Two.' } };
  },
  restoreVersion: async (app) => {
    const { publicId } = await makeReadyAgent(app);
    await publish(app, publicId);
    await app.api('patch', `/agents/${publicId}`).send({ systemPrompt: 'Changed.' });
    return { path: `/agents/${publicId}/versions/1/restore` };
  },
  createVariable: async (app) => {
    const { publicId } = await makeAgent(app);
    const body = { name: 'city', label: 'City', type: 'text_short' };
    return { path: `/agents/${publicId}/prompt/variables`, body, otherBody: { ...body, name: 'town' } };
  },
  connectChannel: async (app) => {
    const { publicId } = await makeAgent(app);
    const path = `/agents/${publicId}/channels`;
    return { path, body: { channelType: 'web_chat' }, otherBody: { channelType: 'z_api' } };
  },
  createAutomation: async (app) => {
    const { publicId } = await makeAgent(app);
    const body = { name: 'Orders', prompt: 'Count the orders.', triggerMode: 'webhook_url' };
    return { path: `/agents/${publicId}/automations`, body, otherBody: { ...body, prompt: 'Count the returns.' } };
  },
  createCommand: async (app) => {
    const { publicId } = await makeAgent(app);
    const body = { name: 'Greet', command: 'greet', prompt: 'Say hello.' };
    return { path: `/agents/${publicId}/commands`, body, otherBody: { ...body, prompt: 'Say goodbye.' } };
  },
  linkSkill: (app) => linking(app, 'skill'),
  linkKnowledgeSource: (app) => linking(app, 'knowledge_source'),
  linkTool: (app) => linking(app, 'http_tool'),
  linkExternalMcp: (app) => linking(app, 'external_mcp'),
  linkNativeMcps: (app) => linking(app, 'native_mcp'),
  linkSubAgent: (app) => linking(app, 'sub_agent'),
  uploadSkill: async () => ({
    path: '/skills',
    file: { content: await zipOf({ 'SKILL.md': skillMd() }), name: 'skill.zip' },
  }),
  createKnowledgeSource: async () => ({
    path: '/knowledge-sources',
    file: { content: Buffer.from('Orders can be sent back within 30 days.'), name: 'refunds.md' },
  }),
  createTool: async () => {
    const { path, body } = exampleRequest('createTool');
    const named = { ...(body as object), name: `keyed_${++made}` };
    return { path, body: named, otherBody: { ...named, name: 'another_tool' } };
  },
  createExternalMcp: async () => {
    // Nothing listens there: the server is stored with its error.
    const body = { name: `Keyed ${++made}`, url: 'https://127.0.0.1:1/mcp', authType: 'NONE' };
    return { path: '/external-mcps', body, otherBody: { ...body, name: 'Another' } };
  },
  createCreditPackage: async () => {
    const body = { name: `Keyed ${++made}`, creditValueCents: 2, creditsAmount: 100 };
    return { path: '/billing/credit-packages', body, otherBody: { ...body, name: 'Another' } };
  },
  createPlan: async (app) => {
    const body = planFields({ content: await contentOf(app) });
    return { path: '/billing/plans', body, otherBody: { ...body, name: 'Another' } };
  },
  createCoupon: async () => {
    const body = {
      code: `KEYED_${++made}`,
      discountType: 'percentage',
      discountValue: 10,
      duration: 'once',
      scope: 'hub',
    };
    return { path: '/billing/coupons', body, otherBody: { ...body, discountValue: 20 } };
  },
  createExternalLink: async () => {
    const body = { title: `Keyed ${++made}`, url: 'https://docs.acme.example' };
    return { path: '/hub/external-links', body, otherBody: { ...body, title: `Another ${made}` } };
  },
};
