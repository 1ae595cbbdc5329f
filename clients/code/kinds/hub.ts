import type { components } from '../../../generated/api.ts';
import { isJsonObject, type JsonObject, type JsonValue, withoutDefaults } from '../json.ts';
import type { ChangeContext, Content, Entry, Kind } from '../kind.ts';
import { fileSchema } from '../schemas/requestSchemas.ts';
import { changesOf, clearingRefusal, contentOf, differs, textOf, valueAt } from './fields.ts';
import { downloadLogo, isPicture, LOGO_TYPES, type LogoType, logoPath, logoUrl } from './logos.ts';

type Schemas = components['schemas'];

const IDENTITY = [
  'name',
  'description',
  'theme',
  'primaryColor',
  'secondaryColor',
  'pricingWidgetColor',
  'supportChannelType',
  'supportChannelValue',
  'supportEmail',
  'supportWhatsappMessage',
];
const TEXTS = ['description', 'supportChannelValue', 'supportWhatsappMessage'];
const CLEARED = Object.fromEntries(TEXTS.map((name) => [name, '']));
/** What the API changes and never takes away. */
const UNCLEARABLE = [
  'name',
  'primaryColor',
  'secondaryColor',
  'pricingWidgetColor',
  'supportChannelType',
  'supportEmail',
  'defaultPlan',
];

/** The hub of a workspace, with its logos: `hub/hub.yaml`. A workspace has exactly one. */
export const hubKind: Kind = {
  kind: 'hub',
  after: ['plan'],
  layout: { form: 'single', file: 'hub/hub.yaml' },
  schema: fileSchema(['HubUpdate', 'HubAccessUpdate', 'HubDomainUpdate'], {
    omit: ['defaultPlanPublicId'],
    properties: {
      defaultPlan: { type: 'string', minLength: 1, description: 'Name of the plan that people who sign up get.' },
      logos: {
        type: 'object',
        additionalProperties: false,
        properties: Object.fromEntries(LOGO_TYPES.map((type) => [type, { type: 'string', minLength: 1 }])),
        description: 'Pictures (PNG, JPEG, WebP or SVG): their paths beside this file.',
      },
    },
  }),

  async list({ api }) {
    const raw = await api.call('getHub', {});
    return [{ id: raw.publicId, name: 'hub', raw }];
  },

  async read({ id, raw }, { known, names, warn }) {
    const hub = raw as Schemas['Hub'];
    const kept = known(id)?.kept ?? {};
    const logos: JsonObject = {};
    const files: Record<string, Content> = {};
    for (const type of LOGO_TYPES) {
      const url = logoUrl(hub, type);
      if (url === null) continue;
      const before = valueAt(kept, ['logos', type]);
      const same = isJsonObject(before) && before.url === url ? before : undefined;
      const path = typeof same?.path === 'string' ? same.path : logoPath(type, url);
      logos[type] = path;
      files[path] =
        typeof same?.sha256 === 'string'
          ? { sha256: same.sha256 }
          : await downloadLogo(url).catch((error: Error) => {
              warn(`The logo ${type} cannot be read from ${url}: ${error.message}`);
              return { sha256: undefined };
            });
    }
    const { defaultPlan } = hub;
    const fields = fieldsOf({
      ...(hub as unknown as JsonObject),
      defaultPlan: defaultPlan && (names.nameOf('plan', defaultPlan.publicId) ?? defaultPlan.name),
      // A subdomain belongs to one workspace, so that files have it only where a person wrote it.
      subdomain: kept.subdomain === true ? hub.subdomain : null,
      logos,
    });
    return { kind: 'hub', name: 'hub', fields, files };
  },

  async fromFile(_name, yaml, place) {
    const files: Record<string, Content> = {};
    for (const [type, path] of Object.entries(isJsonObject(yaml.logos) ? yaml.logos : {})) {
      const content = contentOf(await place.read(`${path}`));
      if (!isPicture(content.bytes))
        throw place.fault(['logos', type], `${path} is not a PNG, JPEG, WebP or SVG picture.`);
      files[`${path}`] = content;
    }
    return { fields: fieldsOf(yaml), files };
  },

  toFile({ fields, files }) {
    return { yaml: fields, files };
  },

  references({ fields: { defaultPlan } }) {
    return typeof defaultPlan === 'string' ? [{ kind: 'plan', name: defaultPlan, at: ['defaultPlan'] }] : [];
  },

  refusal(_listed, before, after) {
    return before && after ? clearingRefusal(before, after, UNCLEARABLE) : undefined;
  },

  keep(before, after) {
    const kept = Object.entries(before.fields).filter(([name]) => UNCLEARABLE.includes(name));
    const logos = { ...objectAt(before, 'logos'), ...objectAt(after, 'logos') };
    const files: Record<string, Content> = {};
    for (const path of Object.values(logos)) {
      const content = after.files[`${path}`] ?? before.files[`${path}`];
      if (content) files[`${path}`] = content;
    }
    return { ...after, fields: fieldsOf({ ...Object.fromEntries(kept), ...after.fields, logos }), files };
  },

  async create(entry, context) {
    const { publicId } = await context.api.call('getHub', {});
    await write({ ...entry, fields: {}, files: {} }, entry, context);
    return { id: publicId, entry };
  },

  async change(_id, before, after, context) {
    await write(before, after, context);
  },
};

/** The fields of a hub, as the service or a file has them, in their canonical form. */
function fieldsOf(hub: JsonObject): JsonObject {
  const identity = IDENTITY.map((name): [string, JsonValue | undefined] => {
    const value = hub[name];
    return [name, typeof value === 'string' ? textOf(value) : value];
  });
  const { accessType, selfServiceEnabled, defaultPlan, subdomain, logos } = hub;
  return withoutDefaults(
    { ...Object.fromEntries(identity), accessType, defaultPlan, selfServiceEnabled, subdomain, logos },
    { theme: 'light', accessType: 'private' },
  );
}

function objectAt({ fields }: Entry, name: string): JsonObject {
  const value = fields[name];
  return isJsonObject(value) ? value : {};
}

async function write(before: Entry, after: Entry, context: ChangeContext): Promise<void> {
  const { api, names } = context;
  const identity: Schemas['HubUpdate'] = changesOf(before, after, IDENTITY, { ...CLEARED, theme: 'light' });
  if (Object.keys(identity).length > 0) await api.call('updateHubIdentity', { body: identity });
  const access: Schemas['HubAccessUpdate'] = changesOf(before, after, ['accessType', 'selfServiceEnabled'], {
    accessType: 'private',
    selfServiceEnabled: false,
  });
  const { defaultPlan, subdomain } = after.fields;
  if (typeof defaultPlan === 'string' && differs(before, after, 'defaultPlan'))
    access.defaultPlanPublicId = names.idOf('plan', defaultPlan);
  if (Object.keys(access).length > 0) await api.call('updateHubAccess', { body: access });
  for (const type of LOGO_TYPES) await writeLogo(type, before, after, context);
  if (typeof subdomain === 'string' && differs(before, after, 'subdomain'))
    await api.call('updateHubDomain', { body: { subdomain } });
  context.remember(keptOf(after, await api.call('getHub', {})));
}

async function writeLogo(type: LogoType, before: Entry, after: Entry, { api }: ChangeContext): Promise<void> {
  const [old, wanted] = [before, after].map((entry) => entry.files[`${objectAt(entry, 'logos')[type]}`]);
  if (wanted?.bytes && wanted.sha256 !== old?.sha256) {
    const path = `${objectAt(after, 'logos')[type]}`;
    const file = { data: Uint8Array.from(wanted.bytes), name: path.slice(path.lastIndexOf('/') + 1) };
    await api.call('uploadHubLogo', { path: { type }, file });
  } else if (old && !wanted) await api.call('deleteHubLogo', { path: { type } });
}

/** What the lock file keeps: which picture each logo is, and whether the files decide the subdomain. */
function keptOf(entry: Entry, hub: Schemas['Hub']): JsonObject {
  const logos: JsonObject = {};
  for (const type of LOGO_TYPES) {
    const path = objectAt(entry, 'logos')[type];
    const [url, sha256] = [logoUrl(hub, type), entry.files[`${path}`]?.sha256];
    if (typeof path === 'string' && url !== null && sha256 !== undefined) logos[type] = { path, url, sha256 };
  }
  return withoutDefaults({ logos, subdomain: entry.fields.subdomain !== undefined });
}
