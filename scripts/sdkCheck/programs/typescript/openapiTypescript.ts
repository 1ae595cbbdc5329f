import createClient from 'openapi-fetch';
import type { paths } from './client/api';
import { BASE_URL, env, must, step } from './report';

const client = createClient<paths>({ baseUrl: BASE_URL, headers: { 'X-Api-Key': env.GUILDHALL_KEY } });
const replying = { path: { agentPublicId: env.REPLYING_AGENT } };

function formOf(parts: Record<string, string | File>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(parts)) form.append(name, value);
  return form;
}

async function main() {
  let conversationPublicId = '';
  await step('create', async () => {
    const { data, error } = await client.POST('/agents', {
      body: { name: `${env.SCENE} created`, categories: ['one', 'two'] },
    });
    return [must(data, error).publicId];
  });

  await step('list', async () => {
    const { data, error } = await client.GET('/agents', {
      params: {
        query: {
          status: ['draft', 'active'],
          categories: [`${env.SCENE}-a`, `${env.SCENE}-b`],
          search: `${env.SCENE} LISTED`,
          page: 1,
          limit: 2,
        },
      },
    });
    const page = must(data, error);
    return [page.total, ...page.items.map(({ publicId }) => publicId)];
  });

  await step('patch', async () => {
    const { data, error } = await client.PATCH('/agents/{agentPublicId}', {
      params: { path: { agentPublicId: env.PATCHED_AGENT } },
      body: { description: 'Changed.' },
    });
    return [must(data, error).publicId];
  });

  await step('patchNested', async () => {
    const { data, error } = await client.PATCH('/http-tools/{httpToolPublicId}', {
      params: { path: { httpToolPublicId: env.PATCHED_TOOL } },
      body: { requiresApproval: true },
    });
    return [must(data, error).publicId];
  });

  await step('publish', async () => {
    await client.PATCH('/agents/{agentPublicId}', { params: replying, body: { aiModelPublicId: env.MODEL } });
    const { data, error } = await client.POST('/agents/{agentPublicId}/publish', {
      params: replying,
      body: { notes: 'First version' },
    });
    return [must(data, error).status];
  });

  await step('upload', async () => {
    const { data, error } = await client.POST('/skills', {
      body: { file: '' },
      bodySerializer: () => formOf({ file: new File([env.SKILL_TEXT], 'SKILL.md') }),
    });
    return [must(data, error).publicId];
  });

  await step('uploadWithMetadata', async () => {
    const metadata = JSON.stringify({ name: `${env.SCENE} returns` });
    const { data, error } = await client.POST('/knowledge-sources', {
      body: { file: '', metadata },
      bodySerializer: () => formOf({ file: new File([env.FILE_TEXT], 'returns.md'), metadata }),
    });
    return [must(data, error).publicId];
  });

  await step('send', async () => {
    const { data, error } = await client.POST('/agents/{agentPublicId}/messages', {
      params: replying,
      body: { content: env.QUESTION },
    });
    const reply = must(data, error);
    conversationPublicId = reply.conversationId;
    return [reply.conversationId, reply.messages.map(({ content }) => content).join(' ')];
  });

  await step('readBack', async () => {
    const { data, error } = await client.GET('/conversations/{conversationPublicId}/messages', {
      params: { path: { conversationPublicId }, query: { limit: 10 } },
    });
    return [conversationPublicId, ...must(data, error).items.map(({ content }) => content)];
  });

  await step('attach', async () => {
    const { data, error } = await client.POST('/agents/{agentPublicId}/messages', {
      params: replying,
      body: { attachments: [{ base64: btoa(env.FILE_TEXT), filename: 'returns.txt' }] },
    });
    return [must(data, error).conversationId];
  });

  await step('stream', async () => {
    const { data, error } = await client.POST('/agents/{agentPublicId}/messages/stream', {
      params: replying,
      body: { content: env.QUESTION },
      parseAs: 'stream',
    });
    let [conversationId, text, pending] = ['', '', ''];
    const decoder = new TextDecoder();
    for await (const chunk of must(data, error) as unknown as AsyncIterable<Uint8Array>) {
      const lines = (pending + decoder.decode(chunk, { stream: true })).split('\n');
      pending = lines.pop() ?? '';
      for (const line of lines.filter((line) => line.startsWith('data: '))) {
        const event = JSON.parse(line.slice('data: '.length));
        conversationId ||= event.conversationId;
        text += event.text ?? '';
      }
    }
    return [conversationId, text];
  });

  await step('error', async () => {
    const { error } = await client.GET('/agents/{agentPublicId}', {
      params: { path: { agentPublicId: env.UNKNOWN_AGENT } },
    });
    return [must(error).code];
  });
}

void main();
