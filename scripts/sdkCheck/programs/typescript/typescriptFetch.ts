import {
  AgentStatus,
  AgentsApi,
  Configuration,
  ConversationsApi,
  HTTPToolsApi,
  KnowledgeSourcesApi,
  MessagesApi,
  ResponseError,
  SkillsApi,
} from './client';
import { BASE_URL, env, step } from './report';

const configuration = new Configuration({
  basePath: BASE_URL,
  apiKey: (name) => (name === 'X-Api-Key' ? env.GUILDHALL_KEY : ''),
});
const agents = new AgentsApi(configuration);
const messages = new MessagesApi(configuration);
const agentPublicId = env.REPLYING_AGENT;

async function main() {
  let conversationPublicId = '';
  await step('create', async () => {
    const agentCreate = { name: `${env.SCENE} created`, categories: ['one', 'two'] };
    return [(await agents.createAgent({ agentCreate })).publicId];
  });

  await step('list', async () => {
    const page = await agents.listAgents({
      status: [AgentStatus.Draft, AgentStatus.Active],
      categories: [`${env.SCENE}-a`, `${env.SCENE}-b`],
      search: `${env.SCENE} LISTED`,
      page: 1,
      limit: 2,
    });
    return [page.total, ...page.items.map(({ publicId }) => publicId)];
  });

  await step('patch', async () => {
    const agent = await agents.updateAgent({
      agentPublicId: env.PATCHED_AGENT,
      agentUpdate: { description: 'Changed.' },
    });
    return [agent.publicId];
  });

  await step('patchNested', async () => {
    const tool = await new HTTPToolsApi(configuration).updateTool({
      httpToolPublicId: env.PATCHED_TOOL,
      httpToolUpdate: { requiresApproval: true },
    });
    return [tool.publicId];
  });

  await step('publish', async () => {
    await agents.updateAgent({ agentPublicId, agentUpdate: { aiModelPublicId: env.MODEL } });
    return [(await agents.publishAgent({ agentPublicId, agentPublish: { notes: 'First version' } })).status];
  });

  await step('upload', async () => {
    const file = new File([env.SKILL_TEXT], 'SKILL.md');
    return [(await new SkillsApi(configuration).uploadSkill({ file })).publicId];
  });

  await step('uploadWithMetadata', async () => {
    const source = await new KnowledgeSourcesApi(configuration).createKnowledgeSource({
      file: new File([env.FILE_TEXT], 'returns.md'),
      metadata: JSON.stringify({ name: `${env.SCENE} returns` }),
    });
    return [source.publicId];
  });

  await step('send', async () => {
    const reply = await messages.sendMessage({ agentPublicId, messageSend: { content: env.QUESTION } });
    conversationPublicId = reply.conversationId;
    return [reply.conversationId, reply.messages.map(({ content }) => content).join(' ')];
  });

  await step('readBack', async () => {
    const conversations = new ConversationsApi(configuration);
    const page = await conversations.listConversationMessages({ conversationPublicId, limit: 10 });
    return [conversationPublicId, ...page.items.map(({ content }) => content)];
  });

  await step('attach', async () => {
    const attachments = [{ base64: btoa(env.FILE_TEXT), filename: 'returns.txt' }];
    return [(await messages.sendMessage({ agentPublicId, messageSend: { attachments } })).conversationId];
  });

  await step('stream', async () => {
    const { raw } = await messages.streamMessageRaw({ agentPublicId, messageSend: { content: env.QUESTION } });
    let [conversationId, text, pending] = ['', '', ''];
    const decoder = new TextDecoder();
    for await (const chunk of raw.body as unknown as AsyncIterable<Uint8Array>) {
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
    const error = await agents.getAgent({ agentPublicId: env.UNKNOWN_AGENT }).catch((reason) => reason);
    if (!(error instanceof ResponseError)) throw error;
    return [(await error.response.json()).code];
  });
}

void main();
