import * as api from './client';
import { formDataBodySerializer } from './client/client';
import { client } from './client/client.gen';
import { BASE_URL, env, must, step } from './report';

client.setConfig({ baseUrl: BASE_URL, auth: ({ name }) => (name === 'X-Api-Key' ? env.GUILDHALL_KEY : undefined) });
const replying = { path: { agentPublicId: env.REPLYING_AGENT } };

async function main() {
  let conversationPublicId = '';
  await step('create', async () => {
    const { data, error } = await api.createAgent({
      body: { name: `${env.SCENE} created`, categories: ['one', 'two'] },
    });
    return [must(data, error).publicId];
  });

  await step('list', async () => {
    const { data, error } = await api.listAgents({
      query: {
        status: ['draft', 'active'],
        categories: [`${env.SCENE}-a`, `${env.SCENE}-b`],
        search: `${env.SCENE} LISTED`,
        page: 1,
        limit: 2,
      },
    });
    const page = must(data, error);
    return [page.total, ...page.items.map(({ publicId }) => publicId)];
  });

  await step('patch', async () => {
    const { data, error } = await api.updateAgent({
      path: { agentPublicId: env.PATCHED_AGENT },
      body: { description: 'Changed.' },
    });
    return [must(data, error).publicId];
  });

  await step('patchNested', async () => {
    const { data, error } = await api.updateTool({
      path: { httpToolPublicId: env.PATCHED_TOOL },
      body: { requiresApproval: true },
    });
    return [must(data, error).publicId];
  });

  await step('publish', async () => {
    await api.updateAgent({ ...replying, body: { aiModelPublicId: env.MODEL } });
    const { data, error } = await api.publishAgent({ ...replying, body: { notes: 'First version' } });
    return [must(data, error).status];
  });

  await step('upload', async () => {
    const { data, error } = await api.uploadSkill({ body: { file: new File([env.SKILL_TEXT], 'SKILL.md') } });
    return [must(data, error).publicId];
  });

  // The generated function knows only one of the two bodies of this operation, the JSON one.
  await step('uploadWithMetadata', async () => {
    const form = {
      file: new File([env.FILE_TEXT], 'returns.md'),
      metadata: JSON.stringify({ name: `${env.SCENE} returns` }),
    };
    const { data, error } = await api.createKnowledgeSource({
      ...formDataBodySerializer,
      headers: { 'Content-Type': null },
      body: form as never,
    });
    return [must(data, error).publicId];
  });

  await step('send', async () => {
    const { data, error } = await api.sendMessage({ ...replying, body: { content: env.QUESTION } });
    const reply = must(data, error);
    conversationPublicId = reply.conversationId;
    return [reply.conversationId, reply.messages.map(({ content }) => content).join(' ')];
  });

  await step('readBack', async () => {
    const { data, error } = await api.listConversationMessages({
      path: { conversationPublicId },
      query: { limit: 10 },
    });
    return [conversationPublicId, ...must(data, error).items.map(({ content }) => content)];
  });

  await step('attach', async () => {
    const { data, error } = await api.sendMessage({
      ...replying,
      body: { attachments: [{ base64: btoa(env.FILE_TEXT), filename: 'returns.txt' }] },
    });
    return [must(data, error).conversationId];
  });

  await step('stream', async () => {
    const { stream } = await api.streamMessage({ ...replying, body: { content: env.QUESTION } });
    let [conversationId, text] = ['', ''];
    for await (const event of stream as AsyncIterable<unknown>) {
      const data = event as { conversationId?: string; text?: string };
      conversationId ||= data.conversationId ?? '';
      text += data.text ?? '';
    }
    return [conversationId, text];
  });

  await step('error', async () => {
    const { error } = await api.getAgent({ path: { agentPublicId: env.UNKNOWN_AGENT } });
    return [must(error).code];
  });
}

void main();
