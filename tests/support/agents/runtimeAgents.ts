import type { LinkKind } from '../../../db/queries/agents/agentLinks.ts';
import type { components } from '../../../generated/api.ts';
import type { AgentSetup } from '../../http/messages/turns.ts';
import { draftAgent } from '../../http/messages/turns.ts';
import type { TestApp } from '../http/app.ts';
import { makeTool, type ToolServer } from '../tools/httpTools.ts';
import { publish } from './agents.ts';
import { linkApi } from './links.ts';

type Schemas = components['schemas'];

/** Links a target to an agent's draft through the API, with `change` on the link: a sub-agent's is part of making it. */
export async function link(
  app: TestApp,
  agentId: string,
  kind: LinkKind,
  targetId: string,
  change?: object,
): Promise<void> {
  const { path, body } = linkApi(kind);
  const whole = kind === 'sub_agent' ? { ...body(targetId), ...change } : body(targetId);
  const linked = await app.api('post', `/agents/${agentId}/${path}`).send(whole);
  if (linked.status > 299) throw new Error(linked.text);
  if (!change || kind === 'sub_agent') return;
  const changed = await app.api('patch', `/agents/${agentId}/${path}/${targetId}`).send(change);
  if (changed.status !== 200) throw new Error(changed.text);
}

/** An agent that is linked to these and published. Answers with its id. */
export async function agentWith(
  app: TestApp,
  links: readonly { kind: LinkKind; id: string; change?: object }[],
  setup: AgentSetup = {},
): Promise<string> {
  const agentId = await draftAgent(app, setup);
  for (const { kind, id, change } of links) await link(app, agentId, kind, id, change);
  await publish(app, agentId);
  return agentId;
}

/** An HTTP_REQUEST tool that posts its inputs to a path of the server. */
export function postTool(
  app: TestApp,
  server: ToolServer,
  path: string,
  fields: Partial<Schemas['HttpToolCreate']> = {},
): Promise<Schemas['HttpTool']> {
  const name = path.replace(/\W+/g, '_').replace(/^_/, '');
  const configuration = {
    method: 'POST',
    url: server.origin + path,
    body: { city: '{{input.city}}' },
    inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  };
  return makeTool(app, { name, description: `Does ${name}.`, configuration, ...fields });
}

/** The steps of the conversation's turns as they are stored, in their order. */
export async function stepsOf({ workspace }: TestApp, conversationId: string) {
  return await workspace.db
    .selectFrom('turn_steps as s')
    .innerJoin('turns as t', (join) =>
      join.onRef('t.id', '=', 's.turn_id').onRef('t.workspace_id', '=', 's.workspace_id'),
    )
    .selectAll('s')
    .select(['t.status as turn_status'])
    .where('t.conversation_id', '=', conversationId)
    .orderBy('t.started_at')
    .orderBy('t.id')
    .orderBy('s.seq')
    .execute();
}

/** The turns of a conversation in their order. */
export async function turnsOf({ workspace }: TestApp, conversationId: string) {
  return await workspace.db
    .selectFrom('turns')
    .selectAll()
    .where('conversation_id', '=', conversationId)
    .orderBy('started_at')
    .orderBy('id')
    .execute();
}
