import type { components } from '../../../generated/api.ts';
import { isJsonObject, type JsonObject, type JsonValue, withoutDefaults } from '../json.ts';
import type { Entry, Kind, KindName, Names, Reference } from '../kind.ts';
import { fileSchema, propertySchema } from '../schemas/requestSchemas.ts';
import { changesOf, clearingRefusal, differs, fixedRefusal, oldestFirst, textOf, valueAt } from './fields.ts';
import { MISSING, missingContent } from './missingContent.ts';

type Schemas = components['schemas'];

const NAMES: JsonObject = { type: 'array', uniqueItems: true, items: { type: 'string', minLength: 1 } };
/** Fields that a creation and a change both take as they stand. */
const TERMS = ['description', 'priceCents', 'seatsIncluded', 'unlimitedCredits', 'extraCreditsEnabled'];
const FIXED = ['billingType', 'billingIntervalMonths', 'currency', 'visible'];
/** Texts of the pricing widget: only a change takes them. */
const WIDGET = ['widgetTitle', 'widgetDescription', 'widgetCtaText', 'widgetHighlighted', 'widgetFeatures'];
const CLEARED: Record<string, JsonValue> = {
  description: '',
  unlimitedCredits: false,
  extraCreditsEnabled: false,
  status: 'active',
  widgetTitle: '',
  widgetDescription: '',
  widgetCtaText: '',
  widgetHighlighted: false,
  widgetFeatures: [],
};

/** The plans of the hub: `hub/plans/<name>.yaml`. */
export const planKind: Kind = {
  kind: 'plan',
  after: ['agent', 'credit-package', 'external-link'],
  layout: { form: 'file', folder: 'hub/plans' },
  schema: planSchema(),

  async list({ api }) {
    const plans = await oldestFirst(api.items('listPlans', { query: { limit: 100 } }));
    return plans.map((raw) => ({ id: raw.publicId, name: raw.name, raw }));
  },

  async read({ id }, { api, known, names }) {
    const plan = await api.call('getPlan', { path: { planPublicId: id } });
    const { creditPackage, hubPackage } = plan;
    const kept = known(id)?.kept;
    const fields = fieldsOf({
      ...(plan as unknown as JsonObject),
      creditPackage: creditPackage
        ? (names.nameOf('credit-package', creditPackage.publicId) ?? creditPackage.name)
        : null,
      // A package never changes, so its content is known as long as the plan has the package that the lock file names.
      content: kept?.package === hubPackage.publicId ? namedContent(kept.content, names) : null,
    });
    return { kind: 'plan', name: plan.name, fields, files: {} };
  },

  async fromFile(_name, yaml) {
    const { content, ...rest } = yaml;
    return {
      fields: fieldsOf({ ...rest, content: isJsonObject(content) ? orderedContent(content) : null }),
      files: {},
    };
  },

  toFile({ fields }) {
    return { yaml: { ...fields, content: fields.content ?? 'missing' }, files: {} };
  },

  references({ fields }) {
    const found: Reference[] = [];
    const add = (kind: KindName, name: JsonValue | undefined, at: (string | number)[]) => {
      if (typeof name === 'string') found.push({ kind, name, at });
    };
    add('credit-package', fields.creditPackage, ['creditPackage']);
    for (const [field, kind] of [
      ['agents', 'agent'],
      ['externalLinks', 'external-link'],
    ] as const)
      for (const [index, name] of listAt(fields, field).entries()) add(kind, name, ['content', field, index]);
    return found;
  },

  refusal(listed, before, after) {
    const { activeSubscriptions = 0 } = (listed?.raw ?? {}) as Partial<Schemas['PlanListItem']>;
    if (!after) return activeSubscriptions > 0 ? `${activeSubscriptions} clients are on it` : undefined;
    if (!before) return after.fields.content ? undefined : missingContent('write its agents and pages as `content`');
    if (activeSubscriptions > 0 && differs(before, after, 'priceCents'))
      return `${activeSubscriptions} clients are on it, so its price is fixed: make another plan`;
    return (
      fixedRefusal(before, after, FIXED) ?? clearingRefusal(before, after, ['creditPackage', 'extraCreditsPriceCents'])
    );
  },

  async create(entry, context) {
    const { api, idempotencyKey, names } = context;
    const { fields } = entry;
    const { billingType, billingIntervalMonths, currency, visible, extraCreditsPriceCents } = fields;
    const made = await api.call('createPlan', {
      body: {
        name: entry.name,
        ...changesOf(undefined, entry, TERMS),
        ...withoutDefaults(
          { billingType, billingIntervalMonths, currency, extraCreditsPriceCents, visible },
          { visible: true },
        ),
        ...packageOf(entry, names),
        content: contentBody(fields.content, names),
      } as unknown as Schemas['PlanCreate'],
      idempotencyKey,
    });
    context.remember(keptOf(made.hubPackage.publicId, entry, names));
    // A creation takes neither the status nor the texts of the widget: a change brings them.
    const later = new Set(['status', ...WIDGET]);
    const present = Object.entries(fields).filter(([name]) => !later.has(name));
    return { id: made.publicId, entry: { ...entry, fields: Object.fromEntries(present) } };
  },

  async change(id, before, after, context) {
    const { api, names } = context;
    const body = changesOf(before, after, [...TERMS, 'extraCreditsPriceCents', 'status', ...WIDGET], CLEARED);
    if (before.name !== after.name) body.name = after.name;
    if (differs(before, after, 'creditPackage')) Object.assign(body, packageOf(after, names));
    if (after.fields.content && differs(before, after, 'content'))
      body.content = contentBody(after.fields.content, names) as unknown as JsonObject;
    // The content is given up in the file.
    if (!after.fields.content) context.remember({});
    if (Object.keys(body).length === 0) return;
    const { hubPackage } = await api.call('updatePlan', { path: { planPublicId: id }, body });
    if (after.fields.content) context.remember(keptOf(hubPackage.publicId, after, names));
  },

  async remove(id, { api }) {
    await api.call('deletePlan', { path: { planPublicId: id } });
  },
};

function planSchema(): JsonObject {
  const content = propertySchema('PlanCreate', 'content');
  const { pages, sectionOrdering } = content.properties as Record<string, JsonObject>;
  const ofPlan: JsonObject = {
    type: 'object',
    additionalProperties: false,
    required: ['agents', 'pages'],
    properties: {
      agents: { ...NAMES, minItems: 1, description: 'Names of the agents that the plan gives access to.' },
      pages: pages ?? {},
      externalLinks: { ...NAMES, description: 'Titles of the links that the plan shows in the menu.' },
      sections: {
        ...sectionOrdering,
        items: { type: 'string', enum: ['chat', 'support'] },
        description: 'Order of the sections in the menu. Absent: chat, then support.',
      },
    },
  };
  return fileSchema(['PlanCreate', 'PlanUpdate'], {
    omit: ['name', 'creditPackagePublicId', 'packagePublicId'],
    properties: {
      creditPackage: { type: ['string', 'null'], description: 'Name of the credit package that the plan includes.' },
      content: { anyOf: [MISSING, ofPlan], description: 'What the plan gives access to. The API does not show it.' },
    },
  });
}

/** The fields of a plan, as the service or a file has them, in their canonical form. */
function fieldsOf(plan: JsonObject): JsonObject {
  const text = (name: string) => (typeof plan[name] === 'string' ? textOf(plan[name]) : undefined);
  return withoutDefaults(
    {
      description: text('description'),
      status: plan.status,
      billingType: plan.billingType,
      billingIntervalMonths: plan.billingIntervalMonths,
      priceCents: plan.priceCents,
      currency: typeof plan.currency === 'string' ? plan.currency.toUpperCase() : undefined,
      seatsIncluded: plan.seatsIncluded,
      unlimitedCredits: plan.unlimitedCredits,
      extraCreditsEnabled: plan.extraCreditsEnabled,
      extraCreditsPriceCents: plan.extraCreditsPriceCents,
      visible: plan.visible,
      creditPackage: plan.creditPackage,
      widgetTitle: text('widgetTitle'),
      widgetDescription: text('widgetDescription'),
      widgetCtaText: text('widgetCtaText'),
      widgetHighlighted: plan.widgetHighlighted,
      widgetFeatures: plan.widgetFeatures,
      content: plan.content,
    },
    { status: 'active', visible: true },
  );
}

function packageOf({ fields }: Entry, names: Names): { creditPackagePublicId?: string } {
  const { creditPackage } = fields;
  return typeof creditPackage === 'string'
    ? { creditPackagePublicId: names.idOf('credit-package', creditPackage) }
    : {};
}

function listAt(fields: JsonObject, field: string): JsonValue[] {
  const list = valueAt(fields, ['content', field]);
  return Array.isArray(list) ? list : [];
}

/** Agents and pages have no order; links and sections have one. */
function orderedContent({ agents, pages, externalLinks, sections }: JsonObject): JsonObject {
  const sorted = (list: JsonValue | undefined) => (Array.isArray(list) ? [...list].sort() : []);
  return withoutDefaults({ agents: sorted(agents), pages: sorted(pages), externalLinks, sections });
}

function contentBody(content: JsonValue | undefined, names: Names): Schemas['PlanContent'] {
  const { agents, pages, externalLinks, sections } = content as Record<string, string[] | undefined>;
  return {
    agents: (agents ?? []).map((name) => ({ agentPublicId: names.idOf('agent', name) })),
    pages: (pages ?? []) as Schemas['HubPage'][],
    externalLinkPublicIds: (externalLinks ?? []).map((title) => names.idOf('external-link', title)),
    sectionOrdering: (sections ?? []).map((section, displayOrder) => ({
      section: section as 'chat' | 'support',
      displayOrder,
    })),
  };
}

/** The content with ids in place of names: names change. */
function keptOf(packageId: string, { fields }: Entry, names: Names): JsonObject {
  if (!fields.content) return {};
  const { agents, externalLinkPublicIds } = contentBody(fields.content, names);
  const { pages, sections } = fields.content as JsonObject;
  const content = withoutDefaults({
    agents: agents.map(({ agentPublicId }) => agentPublicId),
    pages,
    externalLinks: externalLinkPublicIds ?? [],
    sections,
  });
  return { package: packageId, content };
}

/** What the lock file keeps, with the names of now. Things that were deleted are not in the plan any more. */
function namedContent(kept: JsonValue | undefined, names: Names): JsonObject | null {
  if (!isJsonObject(kept)) return null;
  const named = (kind: KindName, ids: JsonValue | undefined) =>
    Array.isArray(ids) ? ids.flatMap((id) => names.nameOf(kind, `${id}`) ?? []) : [];
  return orderedContent({
    ...kept,
    agents: named('agent', kept.agents),
    externalLinks: named('external-link', kept.externalLinks),
  });
}
