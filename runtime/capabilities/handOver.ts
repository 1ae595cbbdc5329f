import type { AgentScope } from '../agent/tool.ts';
import { WRITTEN_BY_A_PERSON } from '../prompt/messages.ts';
import type { JsonSchema } from '../tools/tool.ts';
import type { Capability } from './capability.ts';
import { textOutput } from './output.ts';
import { ownTool } from './ownTool.ts';

const SCHEMA: JsonSchema = {
  type: 'object',
  properties: {
    reason: {
      type: 'string',
      maxLength: 500,
      description: 'Why, in one sentence, for the person who takes over.',
    },
  },
  additionalProperties: false,
};

/** Lets a person take over. Wherever people write through a channel, somebody can read along and answer. */
export const handOverCapability = {
  name: 'handOver',
  forPeopleOnly: true,
  isActive: ({ channel, resources }: Pick<AgentScope, 'channel' | 'resources'>) =>
    channel !== 'api' || resources.hasChannel,
  section: () =>
    [
      '# A person takes over',
      'Call `hand_over` when the user asks for a person, or when only a person can help: a complaint that you cannot settle, an emergency, a matter of law or of trust. Then tell the user, in the language of the conversation, that a person will answer here. Promise no time. You do not answer any more until that person lets you. Saying so without the call hands over nothing.',
      `What a person wrote in your place begins with “${WRITTEN_BY_A_PERSON}”. Keep to what it says, and never begin a message of yours so.`,
    ].join('\n\n'),
  tools: () => [HAND_OVER],
} satisfies Capability;

const HAND_OVER = ownTool({
  name: 'hand_over',
  description: 'Hands the conversation over to a person. Your reply to the present message still goes out.',
  inputSchema: SCHEMA,
  run(_input, { handOver }) {
    handOver();
    return textOutput('A person takes over once your reply is sent. Say so in it.');
  },
});
