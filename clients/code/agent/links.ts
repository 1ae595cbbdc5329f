import { GuildhallError } from '../../sdk/index.ts';
import { type JsonObject, type JsonValue, withoutDefaults } from '../json.ts';
import type { AgentPart, ChangeContext, KindName, ReadContext, Reference } from '../kind.ts';
import { fileSchema, propertySchema } from '../schemas/requestSchemas.ts';
import { itemChanges, itemsIn, type NamedItem, sortedItems, spelledOut } from './items.ts';

type LinkOptions = Record<string, JsonValue>;

/** One kind of link of an agent, with its requests. */
interface LinkRequests {
  field: string;
  kind: KindName;
  /** Options of the link in the file, with their schemas and the values that they have when the file leaves them out. */
  options: Record<string, { schema: JsonObject; without: JsonValue }>;
  list(agentId: string, context: ReadContext): Promise<{ id: string; name: string; options: LinkOptions }[]>;
  /** Makes the link, and answers the options that it has. */
  link(agentId: string, id: string, context: ChangeContext): Promise<LinkOptions>;
  update?(agentId: string, id: string, options: LinkOptions, context: ChangeContext): Promise<void>;
  unlink(agentId: string, id: string, context: ChangeContext): Promise<void>;
}

function linkPart(requests: LinkRequests): AgentPart {
  const { field, kind } = requests;
  const defaults = Object.fromEntries(Object.entries(requests.options).map(([name, { without }]) => [name, without]));
  const schemas = Object.fromEntries(Object.entries(requests.options).map(([name, { schema }]) => [name, schema]));
  const name = { type: 'string', minLength: 1 };

  const link = async (agentId: string, id: string, item: NamedItem, context: ChangeContext) => {
    const present = await requests.link(agentId, id, context).catch((error) => {
      if (hasCode(error, 'ALREADY_LINKED')) return undefined;
      throw error;
    });
    const wanted = { ...defaults, ...optionsOf(item) };
    const differs = !present || Object.entries(wanted).some(([option, value]) => present[option] !== value);
    if (differs) await requests.update?.(agentId, id, wanted, context);
  };
  const unlink = async (agentId: string, id: string, context: ChangeContext) => {
    await requests.unlink(agentId, id, context).catch((error) => {
      if (!hasCode(error, 'NOT_LINKED')) throw error;
    });
  };

  return {
    field,
    schema: {
      type: 'array',
      items: {
        anyOf: [
          name,
          { type: 'object', additionalProperties: false, required: ['name'], properties: { name, ...schemas } },
        ],
      },
    },
    async read(agentId, context) {
      const links = await requests.list(agentId, context);
      return sortedItems(
        links.map(({ id, name: linked, options }) => ({
          name: context.names.nameOf(kind, id) ?? linked,
          ...withoutDefaults(options, defaults),
        })),
      );
    },
    fromFile: (value) =>
      spelledOut(value)?.map((item) => ({ name: item.name, ...withoutDefaults(optionsOf(item), defaults) })),
    references: (value) => itemsIn(value).map(({ name: linked }): Reference => ({ kind, name: linked, at: [linked] })),
    async change(agentId, before, after, context) {
      const { added, changed, removed } = itemChanges(before, after);
      for (const item of added) await link(agentId, context.names.idOf(kind, item.name), item, context);
      for (const { after: item } of changed) {
        const options = { ...defaults, ...optionsOf(item) };
        await requests.update?.(agentId, context.names.idOf(kind, item.name), options, context);
      }
      const formerIds = new Map([...context.replaced].map(([former, id]) => [id, former]));
      for (const item of itemsIn(after)) {
        const id = context.names.idOf(kind, item.name);
        const former = formerIds.get(id);
        if (former === undefined) continue;
        await link(agentId, id, item, context);
        await unlink(agentId, former, context);
      }
      for (const item of removed) await unlink(agentId, context.names.idOf(kind, item.name), context);
    },
  };
}

function optionsOf({ name: _name, ...options }: NamedItem): LinkOptions {
  return options;
}

/** Whether an error is an answer of the service with this code. */
export function hasCode(error: unknown, code: string): boolean {
  return error instanceof GuildhallError && error.code === code;
}

const ACTIVE = { schema: propertySchema('HttpToolLinkUpdate', 'active'), without: true };

export const toolLinks: AgentPart = linkPart({
  field: 'tools',
  kind: 'http-tool',
  options: {
    active: ACTIVE,
    requiresApproval: {
      schema: {
        type: 'boolean',
        description: 'Whether a call by this agent waits for the approval of a person. Absent for false.',
      },
      without: false,
    },
  },
  async list(agentPublicId, { api }) {
    const links = await api.call('listToolLinks', { path: { agentPublicId } });
    return links.map(({ httpToolPublicId, toolName, active, requiresApproval }) => ({
      id: httpToolPublicId,
      name: toolName,
      options: { active, requiresApproval },
    }));
  },
  async link(agentPublicId, httpToolPublicId, { api }) {
    const link = await api.call('linkTool', { path: { agentPublicId }, body: { httpToolPublicId } });
    return { active: link.active, requiresApproval: link.requiresApproval };
  },
  async update(agentPublicId, httpToolPublicId, options, { api }) {
    await api.call('updateToolLink', { path: { agentPublicId, httpToolPublicId }, body: options });
  },
  async unlink(agentPublicId, httpToolPublicId, { api }) {
    await api.call('unlinkTool', { path: { agentPublicId, httpToolPublicId } });
  },
});

export const mcpServerLinks: AgentPart = linkPart({
  field: 'mcpServers',
  kind: 'mcp-server',
  options: {
    active: { schema: propertySchema('ExternalMcpLinkUpdate', 'active'), without: true },
    instanceMode: { schema: { enum: ['STATIC', 'DYNAMIC'] }, without: 'STATIC' },
    requiresApproval: { schema: propertySchema('ExternalMcpLinkUpdate', 'requiresApproval'), without: false },
  },
  async list(agentPublicId, { api }) {
    const links = await api.call('listExternalMcpLinks', { path: { agentPublicId } });
    return links.map(({ externalMcpPublicId, serverName, active, instanceMode, requiresApproval }) => ({
      id: externalMcpPublicId,
      name: serverName,
      options: { active, instanceMode, requiresApproval },
    }));
  },
  async link(agentPublicId, externalMcpPublicId, { api }) {
    const link = await api.call('linkExternalMcp', { path: { agentPublicId }, body: { externalMcpPublicId } });
    return { active: link.active, instanceMode: link.instanceMode, requiresApproval: link.requiresApproval };
  },
  async update(agentPublicId, externalMcpPublicId, options, { api }) {
    await api.call('updateExternalMcpLink', { path: { agentPublicId, externalMcpPublicId }, body: options });
  },
  async unlink(agentPublicId, externalMcpPublicId, { api }) {
    await api.call('unlinkExternalMcp', { path: { agentPublicId, externalMcpPublicId } });
  },
});

export const skillLinks: AgentPart = linkPart({
  field: 'skills',
  kind: 'skill',
  options: {},
  async list(agentPublicId, { api, warn }) {
    const links = await api.call('listSkillLinks', { path: { agentPublicId } });
    return links.map(({ skillPublicId, skillName, active }) => {
      if (!active)
        warn(`A link to the skill ${JSON.stringify(skillName)} is switched off in the console. Files cannot say so.`);
      return { id: skillPublicId, name: skillName, options: {} };
    });
  },
  async link(agentPublicId, skillPublicId, { api }) {
    await api.call('linkSkill', { path: { agentPublicId }, body: { skillPublicId } });
    return {};
  },
  async unlink(agentPublicId, skillPublicId, { api }) {
    await api.call('unlinkSkill', { path: { agentPublicId, skillPublicId } });
  },
});

export const knowledgeLinks: AgentPart = linkPart({
  field: 'knowledge',
  kind: 'knowledge-source',
  options: {},
  async list(agentPublicId, { api, warn }) {
    const links = await api.call('listKnowledgeSourceLinks', { path: { agentPublicId } });
    return links.map(({ knowledgeSourcePublicId, knowledgeSourceName, active }) => {
      if (!active)
        warn(
          `A link to the knowledge source ${JSON.stringify(knowledgeSourceName)} is switched off in the console. Files cannot say so.`,
        );
      return { id: knowledgeSourcePublicId, name: knowledgeSourceName, options: {} };
    });
  },
  async link(agentPublicId, knowledgeSourcePublicId, { api }) {
    await api.call('linkKnowledgeSource', { path: { agentPublicId }, body: { knowledgeSourcePublicId } });
    return {};
  },
  async unlink(agentPublicId, knowledgeSourcePublicId, { api }) {
    await api.call('unlinkKnowledgeSource', { path: { agentPublicId, knowledgeSourcePublicId } });
  },
});

const SUB_AGENT = fileSchema(['SubAgentLinkCreate'], {
  omit: ['subAgentPublicId', 'aiModelPublicId', 'sortOrder'],
  properties: {
    name: { type: 'string', minLength: 1, description: 'Name of the agent to delegate to.' },
    model: {
      type: 'string',
      minLength: 1,
      description: "AI model to use instead of the sub-agent's own, as `provider/modelId`.",
    },
  },
  required: ['name'],
});

/** Sub-agents, in the order in which the agent has them. */
export const subAgentLinks: AgentPart = {
  field: 'subAgents',
  schema: { type: 'array', items: { anyOf: [{ type: 'string', minLength: 1 }, SUB_AGENT] } },
  async read(agentPublicId, { api, names }) {
    const links = await api.call('listSubAgentLinks', { path: { agentPublicId } });
    if (links.length === 0) return undefined;
    return links.map(({ subAgentPublicId, subAgentName, description, aiModelPublicId }) => ({
      name: names.nameOf('agent', subAgentPublicId) ?? subAgentName,
      ...withoutDefaults({
        description,
        model: aiModelPublicId === null ? undefined : (names.nameOf('ai-model', aiModelPublicId) ?? aiModelPublicId),
      }),
    }));
  },
  fromFile: (value) =>
    (value as JsonValue[]).map((item) =>
      typeof item === 'string' ? { name: item } : ({ ...withoutDefaults(item as JsonObject) } as NamedItem),
    ),
  references: (value) =>
    itemsIn(value).flatMap((item): Reference[] => [
      { kind: 'agent', name: item.name, at: [item.name] },
      ...(typeof item.model === 'string'
        ? [{ kind: 'ai-model' as const, name: item.model, at: [item.name, 'model'] }]
        : []),
    ]),
  /** A link is never edited: what differs, and what comes after it in the order, is unlinked first. */
  async loosen(agentPublicId, before, after, { api, names }) {
    for (const { name } of itemsIn(before).slice(samePrefix(before, after))) {
      const subAgentPublicId = names.idOf('agent', name);
      await api.call('unlinkSubAgent', { path: { agentPublicId, subAgentPublicId } }).catch((error) => {
        if (!hasCode(error, 'NOT_LINKED')) throw error;
      });
    }
  },
  async change(agentPublicId, before, after, { api, names }) {
    for (const { name, description, model } of itemsIn(after).slice(samePrefix(before, after))) {
      const body = {
        subAgentPublicId: names.idOf('agent', name),
        ...(typeof description === 'string' && { description }),
        ...(typeof model === 'string' && { aiModelPublicId: names.idOf('ai-model', model) }),
      };
      await api.call('linkSubAgent', { path: { agentPublicId }, body }).catch((error) => {
        if (!hasCode(error, 'ALREADY_LINKED')) throw error;
      });
    }
  },
};

/** Number of items at the beginning that stay. */
function samePrefix(before: JsonValue | undefined, after: JsonValue | undefined): number {
  const [old, wanted] = [itemsIn(before), itemsIn(after)];
  let count = 0;
  while (count < old.length && JSON.stringify(old[count]) === JSON.stringify(wanted[count])) count++;
  return count;
}
