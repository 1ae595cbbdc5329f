import type { components } from '../../../generated/api.ts';
import { isSame } from '../compare/differences.ts';
import { sha256 } from '../digest.ts';
import { type JsonObject, type JsonValue, withoutDefaults } from '../json.ts';
import type { AgentPart, ChangeContext, Content, Entry, Kind, Known, ReadContext, Reference } from '../kind.ts';
import { fileSchema, requestSchema } from '../schemas/requestSchemas.ts';
import { channelsPart } from './channels.ts';
import { shortened } from './items.ts';
import { hasCode, knowledgeLinks, mcpServerLinks, skillLinks, subAgentLinks, toolLinks } from './links.ts';
import { nativeMcpLinks } from './nativeMcps.ts';
import { publishDraftOf } from './publication.ts';
import { commandsPart, variablesPart } from './variables.ts';

type Agent = components['schemas']['Agent'];
type AgentUpdate = components['schemas']['AgentUpdate'];

/** Beside agent.yaml. One line end at its end is the file's, and no part of the prompt. */
const PROMPT_FILE = 'prompt.md';

/** The agent's own fields that files have under the same name, in the order of the document. */
const SETTINGS = Object.keys(requestSchema('AgentUpdate').properties as JsonObject).filter(
  (name) => !['name', 'systemPrompt', 'aiModelPublicId'].includes(name),
) as (keyof AgentUpdate & keyof Agent)[];

/** What takes effect at once, and is no part of a version. */
const UNVERSIONED = ['name', 'description', 'avatarUrl', 'categories', 'commands', 'channels', 'automations'];

const PARTS: AgentPart[] = [
  variablesPart,
  toolLinks,
  mcpServerLinks,
  nativeMcpLinks,
  skillLinks,
  knowledgeLinks,
  subAgentLinks,
  commandsPart,
  channelsPart,
];

/** Agents with all they have: `agents/<name>/agent.yaml` and `prompt.md`. `more` are further parts. */
export function agentKind(more: readonly AgentPart[] = []): Kind {
  const parts = [...PARTS, ...more];
  const partOf = (field: string) => parts.find((part) => part.field === field);
  return {
    kind: 'agent',
    after: ['http-tool', 'mcp-server', 'skill', 'knowledge-source'],
    layout: { form: 'folder', folder: 'agents', file: 'agent.yaml' },
    hints: ['publish'],
    schema: fileSchema(['AgentCreate', 'AgentUpdate'], {
      omit: ['name', 'systemPrompt', 'aiModelPublicId'],
      properties: {
        model: { type: ['string', 'null'], minLength: 1, description: 'The AI model, as `provider/modelId`.' },
        ...Object.fromEntries(parts.map((part) => [part.field, part.schema])),
        publish: {
          type: 'boolean',
          description: 'Whether `apply` publishes the agent when it has changes; true when absent.',
        },
      },
    }),

    async list({ api }) {
      const agents = [];
      for await (const agent of api.items('listAgents', { query: { includeArchived: true } })) agents.push(agent);
      return agents.map((raw) => ({
        id: raw.publicId,
        name: raw.name,
        raw,
        ...(raw.status === 'archived' && { problem: 'The agent is archived: only the console can bring it back.' }),
      }));
    },

    async read(listed, context) {
      const agent = await context.api.call('getAgent', { path: { agentPublicId: listed.id } });
      listed.raw = agent;
      if (agent.status === 'inactive')
        context.warn(
          `The agent ${JSON.stringify(agent.name)} is switched off in the console. It is not published, which would switch it on.`,
        );
      const fields = settingsFrom(agent, context);
      for (const part of parts) {
        // Most agents have no channel: one request less for each of them.
        if (part === channelsPart && !agent.hasExternalChannel) continue;
        const value = await part.read(agent.publicId, within(context, part));
        if (value !== undefined) fields[part.field] = value;
      }
      if (agent.status === 'draft') fields.publish = false;
      return { kind: 'agent', name: agent.name, fields, files: {} };
    },

    async fromFile(_name, yaml, place) {
      const prompt = (await place.readText(PROMPT_FILE))?.replace(/\n$/, '');
      const { publish } = yaml;
      const fields: JsonObject = settingsOf(yaml, prompt);
      for (const part of parts) {
        const value = yaml[part.field];
        if (value === undefined || value === null) continue;
        const canonical = part.fromFile ? part.fromFile(value) : value;
        if (canonical !== undefined && !(Array.isArray(canonical) && canonical.length === 0))
          fields[part.field] = canonical;
      }
      if (publish === false) fields.publish = false;
      else if (fields.model === undefined)
        throw place.fault(
          ['model'],
          'an agent that is published needs a `model`. Name one, or write `publish: false`.',
        );
      return { fields, files: {} };
    },

    toFile(entry) {
      const { systemPrompt, ...rest } = entry.fields;
      const yaml = Object.fromEntries(
        Object.entries(rest).map(([field, value]) => [field, partOf(field) ? (shortened(value) as JsonValue) : value]),
      ) as JsonObject;
      const files: Record<string, Content> = {};
      if (typeof systemPrompt === 'string') {
        const bytes = Buffer.from(`${systemPrompt}\n`);
        files[PROMPT_FILE] = { sha256: sha256(bytes), bytes };
      }
      return { yaml, files };
    },

    references(entry) {
      const { model } = entry.fields;
      const own: Reference[] = typeof model === 'string' ? [{ kind: 'ai-model', name: model, at: ['model'] }] : [];
      return [...own, ...parts.flatMap((part) => partReferences(part, entry))];
    },

    faults: (entries) => subAgentCircles(entries),

    secrets: (before, after, resend) =>
      parts.flatMap((part) =>
        (part.secrets?.(before?.fields[part.field], after.fields[part.field], resend) ?? []).map((place) => ({
          ...place,
          at: [part.field, ...place.at],
        })),
      ),

    keep(before, after) {
      const kept = parts.flatMap((part) => {
        const value = part.keep?.(before.fields[part.field], after.fields[part.field]);
        return value === undefined ? [] : [[part.field, value] as const];
      });
      return { ...after, fields: { ...after.fields, ...Object.fromEntries(kept) } };
    },

    async create(entry, { api, idempotencyKey }) {
      const { publicId } = await api.call('createAgent', { body: { name: entry.name }, idempotencyKey });
      return { id: publicId, entry: { kind: 'agent', name: entry.name, fields: {}, files: {} } };
    },

    async loosen(id, before, after, context) {
      for (const part of parts)
        await part.loosen?.(id, before.fields[part.field], after.fields[part.field], within(context, part, id));
    },

    async change(id, before, after, context) {
      const errors: unknown[] = [];
      const attempt = async (work: () => Promise<unknown>) => {
        try {
          await work();
        } catch (error) {
          errors.push(error);
        }
      };
      const body = updateOf(before, after, context);
      if (Object.keys(body).length > 0)
        await attempt(() => context.api.call('updateAgent', { path: { agentPublicId: id }, body }));
      for (const part of parts)
        await attempt(() =>
          part.change(id, before.fields[part.field], after.fields[part.field], within(context, part, id)),
        );
      if (errors.length === 1) throw errors[0];
      if (errors.length > 1)
        throw new AggregateError(errors, errors.map((error) => (error as Error).message).join(' '));
    },

    async remove(id, { api }) {
      await api.call('deleteAgent', { path: { agentPublicId: id } }).catch((error) => {
        if (!hasCode(error, 'AGENT_NOT_FOUND')) throw error;
      });
    },

    needsPublish(listed, entry, differences) {
      if (entry.fields.publish === false) return false;
      const agent = listed?.raw as Partial<Agent> | undefined;
      if (agent?.status === 'inactive') return false;
      const changes = differences.some(({ field }) => !UNVERSIONED.includes(field.replace(/[.[ ].*$/s, '')));
      return changes || agent === undefined || agent.status === 'draft' || agent.hasUnpublishedChanges === true;
    },

    publish: (id, { name }, context) => publishDraftOf(id, name, context),
  };
}

function settingsFrom(agent: Agent, { names }: ReadContext): JsonObject {
  const { aiModelPublicId, systemPrompt } = agent;
  const model = aiModelPublicId === null ? undefined : (names.nameOf('ai-model', aiModelPublicId) ?? aiModelPublicId);
  const settings = Object.fromEntries(SETTINGS.map((name) => [name, agent[name] as JsonValue]));
  return settingsOf({ ...settings, ...(model !== undefined && { model }) }, systemPrompt ?? undefined);
}

/** The settings in canonical form, with the model after what people read first. */
function settingsOf(values: JsonObject, prompt: string | undefined): JsonObject {
  const { description, avatarUrl, categories, model, ...rest } = values;
  const settings = Object.fromEntries(
    SETTINGS.filter((name) => Object.hasOwn(rest, name)).map((name) => [name, canonicalSetting(name, rest[name])]),
  ) as JsonObject;
  const tags = Array.isArray(categories) ? [...new Set(categories)] : categories;
  return withoutDefaults(
    {
      description: textOf(description),
      avatarUrl,
      categories: tags,
      model,
      systemPrompt: textOf(prompt),
      ...settings,
    },
    { systemPrompt: '' },
  );
}

function canonicalSetting(name: string, value: JsonValue | undefined): JsonValue | undefined {
  // The service takes `HH:MM` and answers `HH:MM:SS`.
  if (name.startsWith('followUpBusinessHours') && typeof value === 'string' && /^\d\d:\d\d$/.test(value))
    return `${value}:00`;
  return textOf(value);
}

/** Windows' line ends are no difference. */
function textOf(value: JsonValue | undefined): JsonValue | undefined {
  return typeof value === 'string' ? value.replaceAll('\r\n', '\n').replace(/^\uFEFF/, '') : value;
}

/** The settings that differ; null clears what the file no longer has. */
function updateOf(before: Entry, after: Entry, { names }: ChangeContext): AgentUpdate {
  const body: Record<string, JsonValue> = {};
  if (before.name !== after.name) body.name = after.name;
  for (const field of ['systemPrompt', ...SETTINGS]) {
    const value = after.fields[field];
    if (!isSame(before.fields[field], value)) body[field] = value ?? null;
  }
  const { model } = after.fields;
  if (before.fields.model !== model)
    body.aiModelPublicId = model === undefined ? null : names.idOf('ai-model', String(model));
  return body as AgentUpdate;
}

function partReferences(part: AgentPart, entry: Entry): Reference[] {
  const value = entry.fields[part.field];
  if (value === undefined) return [];
  return (part.references?.(value) ?? []).map((reference) => ({ ...reference, at: [part.field, ...reference.at] }));
}

/** A context in which a part sees only what it remembered itself. */
function within<Context extends ReadContext | ChangeContext>(context: Context, part: AgentPart, id?: string): Context {
  const known = (each: string): Known | undefined => {
    const all = context.known(each);
    if (!all) return undefined;
    const { kept, ...rest } = all;
    const own = kept?.[part.field];
    return { ...rest, ...(own !== undefined && { kept: own as JsonObject }) };
  };
  if (!('remember' in context) || id === undefined) return { ...context, known };
  const remember = (own: JsonObject) => {
    const { [part.field]: _former, ...others } = context.known(id)?.kept ?? {};
    context.remember(Object.keys(own).length === 0 ? others : { ...others, [part.field]: own });
  };
  return { ...context, known, remember };
}

/** Agents that would delegate to themselves, over any number of others. The service refuses such links. */
function subAgentCircles(entries: readonly Entry[]): { name: string; message: string }[] {
  const below = new Map(
    entries.map((entry) => [
      entry.name,
      partReferences(subAgentLinks, entry)
        .filter(({ kind }) => kind === 'agent')
        .map(({ name }) => name),
    ]),
  );
  const done = new Set<string>();
  const faults: { name: string; message: string }[] = [];
  const visit = (name: string, way: string[]) => {
    const start = way.indexOf(name);
    if (start >= 0) {
      const circle = [...way.slice(start), name].map((each) => JSON.stringify(each)).join(' → ');
      faults.push({ name, message: `agents cannot delegate in a circle: ${circle}.` });
      return;
    }
    if (done.has(name)) return;
    for (const next of below.get(name) ?? []) visit(next, [...way, name]);
    done.add(name);
  };
  for (const name of below.keys()) visit(name, []);
  return faults;
}
