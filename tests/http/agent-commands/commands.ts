import { newId } from '../../../core/ids.ts';
import type { components } from '../../../generated/api.ts';
import { makeCommand } from '../../support/agents/agentCommands.ts';
import { makeAgent } from '../../support/agents/agents.ts';
import type { TestApp } from '../../support/http/app.ts';

/**
 * The responses to one request for an unknown command, a deleted one, one of another agent and one of another
 * workspace, without their request ids. `stay` asserts that the two that exist are unchanged.
 */
export async function answersForMissingCommand(
  app: TestApp,
  ask: (agentId: string, commandId: string) => PromiseLike<{ status: number; body: { requestId?: string } }>,
): Promise<{ answers: unknown[]; stay: () => Promise<void> }> {
  const { publicId: agentId } = await makeAgent(app);
  const { publicId: otherId } = await makeAgent(app);
  const foreign = await makeAgent(app, {}, app.stranger.apiKey);
  const deleted = await makeCommand(app, agentId);
  await app.api('delete', `/agents/${agentId}/commands/${deleted.publicId}`);
  const others = await makeCommand(app, otherId);
  const theirs = await makeCommand(app, foreign.publicId, {}, app.stranger.apiKey);
  const answers = [];
  for (const id of [newId(), deleted.publicId, others.publicId, theirs.publicId]) {
    const { status, body } = await ask(agentId, id);
    const { requestId: _, ...rest } = body;
    answers.push([status, rest]);
  }
  const read = async (agent: string, command: components['schemas']['AgentCommand'], key?: string) => {
    const { body } = await app.api('get', `/agents/${agent}/commands/${command.publicId}`, key);
    expect(body).toEqual(command);
  };
  return {
    answers,
    stay: async () => {
      await read(otherId, others);
      await read(foreign.publicId, theirs, app.stranger.apiKey);
    },
  };
}

/** The expected `answers`. */
export const allCommandsNotFound = Array.from({ length: 4 }, () => [
  404,
  { code: 'COMMAND_NOT_FOUND', status: 404, message: 'The agent has no command with this id.', details: [] },
]);

/** Names, slash words and prompts that are not valid. */
export const INVALID: [what: string, fields: object][] = [
  ['an empty name', { name: '' }],
  ['a blank name', { name: ' ' }],
  ['a long name', { name: 'a'.repeat(151) }],
  ['no slash word', { command: '' }],
  ['a slash', { command: '/help' }],
  ['upper case', { command: 'Help' }],
  ['an underscore', { command: 'help_me' }],
  ['a blank in the slash word', { command: 'help me' }],
  ['a hyphen in front', { command: '-help' }],
  ['a hyphen at the end', { command: 'help-' }],
  ['a line break after the slash word', { command: 'help\n' }],
  ['a letter with an accent', { command: 'café' }],
  ['a long slash word', { command: 'a'.repeat(101) }],
  ['a long description', { description: 'a'.repeat(501) }],
  ['an empty prompt', { prompt: '' }],
  ['a long prompt', { prompt: 'a'.repeat(10_001) }],
  ['a prompt of null', { prompt: null }],
  ['a counter', { usageCount: 5 }],
];
