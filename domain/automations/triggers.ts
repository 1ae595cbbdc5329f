import type { ValidateFunction } from 'ajv';
import { createRequestAjv } from '../../core/ajv.ts';
import { fault } from '../../core/errors.ts';
import { toFaults } from '../../core/faults.ts';
import { lruCache } from '../../core/lruCache.ts';
import type { SecretBox } from '../../core/secrets.ts';
import type { AutomationRow } from '../../db/queries/automations/automations.ts';
import { BUILTIN_TRIGGERS } from '../../integrations/toolkits/builtin/triggers.ts';
import type { TriggerType } from '../../integrations/toolkits/toolkit.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { HIDDEN } from '../../runtime/tools/secrets/secrets.ts';

/** The configuration of a trigger as it is stored: what may be shown, and the secret values by their names. */
export interface TriggerSettings {
  visible: Record<string, unknown>;
  secrets: Record<string, string>;
}

const AT = '/body/triggerConfig';
/** Schemas of triggers that are compiled at a time. */
const MAX_COMPILED = 100;
const compiled = lruCache<string, ValidateFunction>(MAX_COMPILED);

/** Whether the service itself takes the events of this trigger, at an address of the automation. */
export function isBuiltinTrigger(slug: string | null): boolean {
  return BUILTIN_TRIGGERS.some((trigger) => trigger.slug === slug);
}

/** The trigger of a toolkit. Throws UNKNOWN_TRIGGER, and TOOLKIT_REGISTRY_UNAVAILABLE when the registry must be asked and does not answer. */
export async function triggerOf(runtime: Runtime, toolkitSlug: string, slug: string): Promise<TriggerType> {
  const trigger = await runtime.toolkits.trigger(slug);
  if (trigger?.toolkit !== toolkitSlug) throw fault('UNKNOWN_TRIGGER');
  return trigger;
}

/**
 * Checks the configuration of a trigger against its schema, and takes the secret values out of it: those that the schema calls
 * `writeOnly`. One that comes as `********` is taken from `stored`. Throws VALIDATION_ERROR.
 */
export function readTriggerConfig(
  trigger: TriggerType,
  config: Readonly<Record<string, unknown>>,
  stored: TriggerSettings['secrets'],
): TriggerSettings {
  // The address is the service's own.
  const { webhookUrl: _, ...given } = config;
  const full: Record<string, unknown> = {};
  const settings: TriggerSettings = { visible: {}, secrets: {} };
  const secret = secretNames(trigger.configSchema);
  for (const [name, value] of Object.entries(given)) {
    const isSecret = secret.has(name);
    const own = isSecret && value === HIDDEN ? stored[name] : value;
    // A secret that is to be kept, and is not there, counts as missing.
    if (own === undefined) continue;
    full[name] = own;
    settings.visible[name] = isSecret ? HIDDEN : own;
    if (isSecret && typeof own === 'string') settings.secrets[name] = own;
  }
  const validate = validatorOf(trigger);
  if (!validate(full)) {
    throw fault('VALIDATION_ERROR', undefined, { details: toFaults(validate.errors, AT) });
  }
  return settings;
}

function secretNames({ properties }: TriggerType['configSchema']): Set<string> {
  const named = Object.entries((properties ?? {}) as Record<string, { writeOnly?: unknown }>);
  return new Set(named.filter(([, schema]) => schema?.writeOnly === true).map(([name]) => name));
}

function validatorOf({ slug, configSchema }: TriggerType): ValidateFunction {
  const key = JSON.stringify([slug, configSchema]);
  const known = compiled.get(key);
  if (known) return known;
  // A registry may name another dialect. All of them mean the same for what forms are made from.
  const { $schema: _, ...schema } = configSchema;
  let validate: ValidateFunction;
  try {
    validate = createRequestAjv().compile(schema);
  } catch (cause) {
    throw fault('TOOLKIT_REGISTRY_UNAVAILABLE', undefined, { cause });
  }
  compiled.set(key, validate);
  return validate;
}

const placeOf = (workspaceId: string, id: string) => ({
  workspaceId,
  table: 'automations',
  rowId: id,
  column: 'trigger_secrets',
});

/** Seals the secret values of a trigger's configuration for its row; null when there are none. */
export function sealTriggerSecrets(
  secrets: SecretBox,
  workspaceId: string,
  id: string,
  values: TriggerSettings['secrets'],
): Buffer | null {
  if (Object.keys(values).length === 0) return null;
  return secrets.seal(JSON.stringify(values), placeOf(workspaceId, id));
}

/** The secret values of an automation's trigger, by their names. Throws SecretUnreadable. */
export function openTriggerSecrets(
  secrets: SecretBox,
  { workspace_id, id, trigger_secrets }: Pick<AutomationRow, 'workspace_id' | 'id' | 'trigger_secrets'>,
): TriggerSettings['secrets'] {
  return trigger_secrets === null ? {} : JSON.parse(secrets.open(trigger_secrets, placeOf(workspace_id, id)));
}
