import { commandTableModule } from '../../../scripts/codegen/commands.ts';
import { commandWords } from '../../../scripts/codegen/commandWords.ts';
import { operationRows } from '../../../scripts/codegen/operations.ts';
import type { Document } from '../../../spec/rules/types.ts';

test.each([
  ['Agents', 'listAgents', 'agents list'],
  ['Agent Skills', 'listSkillLinks', 'agent-skills list'],
  ['Agent Skills', 'listAvailableSkills', 'agent-skills list-available'],
  ['Agent HTTP Tools', 'updateToolLink', 'agent-http-tools update'],
  ['Agent Native MCPs', 'updateNativeMcpInstanceMode', 'agent-native-mcps update-instance-mode'],
  ['Knowledge Sources', 'createKnowledgeSource', 'knowledge create'],
  ['Agent Sub-agents', 'linkSubAgent', 'sub-agents link'],
  ['Clients', 'resendClientInvitation', 'clients resend-invitation'],
  ['Hub Access', 'getHubAccess', 'hub-access get'],
  ['Public API', 'getHealth', 'health'],
])('the words of an operation of %s, %s, are `%s`', (tag, operationId, words) => {
  expect(commandWords(tag, operationId).join(' ')).toBe(words);
});

/** A document with operations of one tag, each with the properties of its body. */
function documentOf(bodies: Record<string, string[]>): Document {
  const paths = Object.entries(bodies).map(([operationId, names]) => {
    const properties = Object.fromEntries(names.map((name) => [name, { type: 'string' }]));
    const content = { 'application/json': { schema: { type: 'object', properties } } };
    const post = {
      operationId,
      tags: ['Agents'],
      summary: 'Does it',
      requestBody: { content },
      responses: { '204': {} },
    };
    return [`/${operationId}`, { post }] as const;
  });
  return { openapi: '3.1.1', tags: [{ name: 'Agents', description: 'Agents.' }], paths: Object.fromEntries(paths) };
}
const tableOf = (document: Document) => commandTableModule(document, operationRows(document));

test('two commands with the same words are refused', () => {
  expect(() => tableOf(documentOf({ createAgent: [], createAgents: [] }))).toThrow(
    'createAgents: its command `agents create` is that of createAgent, too',
  );
});

test('two flags of one name are refused, and so are those that every command has', () => {
  expect(tableOf(documentOf({ createAgent: ['aiModelPublicId'] }))).toContain('"flag":"ai-model-id"');
  const clash = () => tableOf(documentOf({ createAgent: ['aiModelPublicId', 'aiModelId'] }));
  expect(clash).toThrow('createAgent: two of its flags are --ai-model-id');
  for (const name of ['json', 'yes', 'all', 'body', 'apiKey'])
    expect(() => tableOf(documentOf({ createAgent: [name] }))).toThrow('two of its flags');
});
