import type { components } from '../../../generated/api.ts';
import { itemChanges, itemsIn, type NamedItem, sortedItems, withKept } from '../agent/items.ts';
import { isJsonObject, type JsonObject, type JsonValue, withoutDefaults } from '../json.ts';
import type { AgentPart, ChangeContext, Known, SecretPlace } from '../kind.ts';
import { fileSchema, propertySchema } from '../schemas/requestSchemas.ts';
import { HIDDEN, isSecretReference } from '../secrets/reference.ts';
import { changesOf, differs, textOf } from './fields.ts';
import {
  keptSecrets,
  literalSecret,
  type SecretPaths,
  secretsIn,
  secretsToSend,
  withReferences,
  withValues,
} from './secretFields.ts';

type Schemas = components['schemas'];

/** Which fields of a trigger's configuration are secrets, the schema of the trigger says: in files those are secrets that are references. */
const SECRETS: SecretPaths = [['triggerConfig', '*']];
const FIELDS = ['description', 'prompt', 'status', 'hitlMode', 'triggerMode', 'schedule', 'timezone'];
const TRIGGER = ['triggerToolkitSlug', 'triggerSlug', 'triggerConfig'];
const DEFAULTS = { status: 'active', hitlMode: 'pause_on_approval', timezone: 'UTC' };

/** The automations of an agent: the list `automations` in agent.yaml. Automations are told apart by their names. */
export const automationsPart: AgentPart = {
  field: 'automations',
  schema: {
    type: 'array',
    items: {
      ...fileSchema(['AutomationCreate', 'AutomationUpdate'], { properties: { triggerConfig: configSchema() } }),
      required: ['name', 'prompt', 'triggerMode'],
    },
  },

  async read(agentId, { api, known }) {
    const automations = await api.call('listAutomations', { path: { agentPublicId: agentId } });
    return sortedItems(automations.map((automation) => itemOf(automation, known(agentId))));
  },

  fromFile(value) {
    return sortedItems(itemsIn(value).map((item) => ({ name: item.name, ...fieldsOf(item) })));
  },

  secrets(before, after, resend) {
    const old = new Map(itemsIn(before).map((item) => [item.name, item]));
    return itemsIn(after).flatMap((item) =>
      toSend(old.get(item.name), item, resend).map(({ reference, at }) => ({ reference, at: [item.name, ...at] })),
    );
  },

  keep: withKept,

  async change(agentId, before, after, context) {
    const { api, resendSecrets, remember } = context;
    const { added, changed, removed } = itemChanges(before, after);
    const touched = new Set([...added, ...changed.map((each) => each.after)]);
    const resent = itemsIn(after).filter(
      (item) => resendSecrets && !touched.has(item) && secretsIn(item, SECRETS).length > 0,
    );
    remember(keptOf(itemsIn(after)));
    if (touched.size + resent.length + removed.length === 0) return;
    const path = { agentPublicId: agentId };
    const present = await api.call('listAutomations', { path });
    const pathOf = ({ name }: NamedItem) => {
      const found = present.find((each) => each.name === name);
      if (!found) throw new Error(`The automation ${JSON.stringify(name)} is gone. Plan again.`);
      return { ...path, automationPublicId: found.publicId };
    };
    for (const item of removed) await api.call('deleteAutomation', { path: pathOf(item) });
    for (const each of [...changed, ...resent.map((item) => ({ before: item, after: item }))])
      await update(pathOf(each.after), each.before, each.after, context);
    for (const item of added) await add(path, item, context);
  },
};

/** The triggers of the service call their secrets so. What other triggers have, only the service knows. */
function configSchema(): JsonObject {
  return {
    ...propertySchema('AutomationCreate', 'triggerConfig'),
    patternProperties: { '([Ss]ecret|[Pp]assword)$': { type: 'string', pattern: '^(env|file):.' } },
  };
}

/** An automation in the words of files. */
function itemOf(automation: Schemas['Automation'], known: Known | undefined): NamedItem {
  const { name, triggerConfig } = automation;
  const { webhookUrl: _address, ...config } = triggerConfig as JsonObject;
  const fields = fieldsOf({ ...(automation as unknown as JsonObject), triggerConfig: config });
  const kept = known?.kept ?? {};
  const own = Object.hasOwn(kept, name) ? kept[name] : undefined;
  const record = isJsonObject(own) ? { id: '', kept: own } : undefined;
  return { name, ...withReferences(fields, SECRETS, record, (at) => ['TRIGGER', name, `${at.at(-1)}`]) };
}

/** The fields in canonical form. What the trigger mode does not use is left out: no creation takes it. */
function fieldsOf(item: JsonObject): JsonObject {
  const { description, prompt, triggerMode } = item;
  const isScheduled = triggerMode === 'schedule';
  const isTriggered = triggerMode === 'webhook';
  return withoutDefaults(
    {
      description: typeof description === 'string' ? textOf(description) : undefined,
      prompt: typeof prompt === 'string' ? textOf(prompt) : undefined,
      status: item.status,
      hitlMode: item.hitlMode,
      triggerMode,
      schedule: isScheduled ? item.schedule : undefined,
      timezone: isScheduled ? item.timezone : undefined,
      triggerToolkitSlug: isTriggered ? item.triggerToolkitSlug : undefined,
      triggerSlug: isTriggered ? item.triggerSlug : undefined,
      triggerConfig: isTriggered ? item.triggerConfig : undefined,
    },
    DEFAULTS,
  );
}

/** The secrets of a trigger that go out: the service keeps none for another toolkit. */
function toSend(before: NamedItem | undefined, after: NamedItem, resend: boolean): SecretPlace[] {
  const [old, wanted] = [before && { fields: before as JsonObject }, { fields: after as JsonObject }];
  if (old && !resend && !TRIGGER.some((name) => differs(old, wanted, name))) return [];
  const isMoved = !old || differs(old, wanted, 'triggerToolkitSlug');
  return secretsToSend(old?.fields, wanted.fields, SECRETS, resend || isMoved);
}

async function add(path: { agentPublicId: string }, item: NamedItem, context: ChangeContext): Promise<void> {
  const { status, ...body } = await withValues(item, SECRETS, toSend(undefined, item, false), context);
  const made = await context.api.call('createAutomation', { path, body: body as Schemas['AutomationCreate'] });
  const idPath = { ...path, automationPublicId: made.publicId };
  if (status === 'inactive') await context.api.call('updateAutomation', { path: idPath, body: { status } });
  announce(made, item, context);
}

async function update(
  path: { agentPublicId: string; automationPublicId: string },
  before: NamedItem,
  after: NamedItem,
  context: ChangeContext,
): Promise<void> {
  const [old, wanted] = [{ fields: before as JsonObject }, { fields: after as JsonObject }];
  const cleared = { description: '', ...DEFAULTS };
  const body: Record<string, JsonValue> = changesOf(old, wanted, [...FIELDS, ...TRIGGER], cleared);
  const hadSecret = secretsIn(before, SECRETS).find(({ at }) => !isReferenceAt(after, at));
  if (hadSecret) throw new Error(`automation ${after.name}: ${literalSecret(hadSecret.at)}`);
  if (context.resendSecrets || TRIGGER.some((name) => differs(old, wanted, name))) {
    const sent = await withValues(after, SECRETS, toSend(before, after, context.resendSecrets), context);
    body.triggerConfig = sent.triggerConfig ?? null;
  }
  if (Object.keys(body).length > 0)
    announce(await context.api.call('updateAutomation', { path, body }), after, context);
}

/** Whether a place of a secret has a reference still, or nothing. */
function isReferenceAt({ triggerConfig }: NamedItem, at: (string | number)[]): boolean {
  const value = isJsonObject(triggerConfig) ? triggerConfig[`${at.at(-1)}`] : undefined;
  return value === undefined || isSecretReference(value);
}

/** Says what only this answer says: a new secret address, and that a value of the file is a secret. */
function announce({ triggerConfig }: Schemas['Automation'], item: NamedItem, { warn }: ChangeContext): void {
  const { webhookUrl } = triggerConfig as JsonObject;
  if (typeof webhookUrl === 'string' && !webhookUrl.includes(HIDDEN))
    warn(`The automation ${item.name} has a new secret address, which is shown this once: ${webhookUrl}`);
  const written = isJsonObject(item.triggerConfig) ? item.triggerConfig : {};
  for (const [field, value] of Object.entries(triggerConfig as JsonObject))
    if (value === HIDDEN && Object.hasOwn(written, field) && !isSecretReference(written[field]))
      warn(`The automation ${item.name}: ${literalSecret([field])}`);
}

function keptOf(items: readonly NamedItem[]): JsonObject {
  const kept = items.map((item): [string, JsonObject] => [item.name, keptSecrets(item, SECRETS)]);
  return Object.fromEntries(kept.filter(([, secrets]) => Object.keys(secrets).length > 0));
}
