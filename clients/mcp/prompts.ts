import { type GetPromptResult, type Prompt, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';

/** The prompts that people choose in their client. */
export const PROMPTS: Prompt[] = [
  {
    name: 'build_agent',
    title: 'Build an agent',
    description: 'Makes an agent for a purpose, tries it, and publishes it when you agree.',
    arguments: [
      { name: 'purpose', description: 'What the agent is for, and for whom.', required: true },
      { name: 'name', description: 'Its name.' },
      { name: 'model', description: 'The AI model, by its id; left out, one is proposed.' },
    ],
  },
  {
    name: 'debug_conversation',
    title: 'Debug a conversation',
    description: 'Finds out why an agent answered as it did, and proposes what to change.',
    arguments: [
      { name: 'conversation_id', description: 'The conversation.', required: true },
      {
        name: 'agent_id',
        description: 'The agent, when you know it. It shortens the list of conversations to choose from.',
      },
      { name: 'problem', description: 'What is wrong with the answers.' },
    ],
  },
];

const TEXTS: Record<string, (values: Record<string, string>) => string> = {
  build_agent: ({ purpose, name, model }) => `Build an agent with the tools of this server.

Purpose: ${purpose}
${name ? `Name: ${name}\n` : ''}${model ? `AI model: ${model}\n` : ''}
1. Look with agents__list_agents whether there is such an agent already. If there is, ask me whether to change that one.
2. Ask me what you must know and cannot find out: tone, language, what it must never do, where its knowledge comes from.
3. agents__create_agent${name ? '' : ' with a short name'}.
4. ${model ? 'Set the model' : 'Choose a model from ai_models__list_ai_models and set it'} with agent_model__update_agent_model.
5. Write the instructions with agent_prompt__update_agent_prompt: who it is, what it does, what it does not do, how it answers, what it does when it does not know.
6. Link the knowledge, skills and tools that it needs, and switch on the features that it needs, no others.
7. Show me the draft in a few lines. When I agree, agents__publish_agent.
8. Try it with messages__send_message and isTest true: one ordinary question, one that it must refuse, one that it cannot know. Show me the answers, and mend the instructions where they are wrong.`,
  debug_conversation: ({ conversation_id, agent_id, problem }) => `Find out why an agent answered as it did.

Conversation: ${conversation_id}
${agent_id ? `Agent: ${agent_id}\n` : ''}${problem ? `What is wrong: ${problem}\n` : ''}
1. Read conversations__get_conversation and all pages of conversations__list_conversation_messages.
2. Read what the agent is made of: agent_versions__get_published_version, and agents__get_agent for what has changed since it was published.
3. Say which answer went wrong first, and what caused it: the instructions, missing or wrong knowledge, a tool that failed, the model, or what the person wrote. Quote the words that show it.
4. Look at what the cause points to: agent_knowledge_sources__list_knowledge_source_links, agent_http_tools__list_tool_links, agent_features__list_features.
5. Propose the smallest change, as the new text. Change nothing before I agree, and publish nothing before I agree.`,
};

/** The messages of a prompt. Throws InvalidParams for an unknown prompt, and for a missing or unknown argument. */
export function getPrompt(name: string, values: Record<string, string> = {}): GetPromptResult {
  const prompt = PROMPTS.find((each) => each.name === name);
  const text = TEXTS[name];
  if (!prompt || !text)
    throw wrong(`There is no prompt ${name}. There are ${PROMPTS.map((each) => each.name).join(', ')}.`);
  const known = prompt.arguments ?? [];
  const unknown = Object.keys(values).filter((each) => !known.some((argument) => argument.name === each));
  if (unknown.length > 0)
    throw wrong(
      `${name} has no argument ${unknown.join(', ')}. It takes ${known.map((each) => each.name).join(', ')}.`,
    );
  const missing = known.filter((each) => each.required && !values[each.name]?.trim());
  if (missing.length > 0) throw wrong(`${name} needs ${missing.map((each) => each.name).join(', ')}.`);
  return {
    ...(prompt.description ? { description: prompt.description } : {}),
    messages: [{ role: 'user', content: { type: 'text', text: text(values) } }],
  };
}

function wrong(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}
