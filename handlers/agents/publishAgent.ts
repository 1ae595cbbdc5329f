import { publishWarnings } from '../../domain/agents/check/publishWarnings.ts';
import { publishDraft } from '../../domain/agents/versions/publishDraft.ts';
import type { Handler } from '../handler.ts';
import { agentBody } from './agentBody.ts';
import { agentWarningsHeader } from './agentWarnings.ts';

export const publishAgent: Handler<'publishAgent'> = {
  async prepare(request) {
    const warnings = await publishWarnings(request, request.path.agentPublicId);
    return async (context) => {
      const agent = await publishDraft(context, context.path.agentPublicId, context.body?.notes ?? null);
      const header = agentWarningsHeader(warnings ?? []);
      if (header !== undefined) context.setHeader('Agent-Warnings', header);
      return context.reply(200, agentBody(agent, context.runtime));
    };
  },
};
