import { withoutDefaults } from '../json.ts';
import type { Kind } from '../kind.ts';

/** Credit packages: `hub/credit-packages.yaml`. */
export const creditPackageKind: Kind = {
  kind: 'credit-package',
  after: [],
  layout: { form: 'list', file: 'hub/credit-packages.yaml' },
  schema: {
    type: 'object',
    additionalProperties: false,
    required: ['creditValueCents', 'creditsAmount'],
    properties: {
      creditValueCents: { type: 'integer', minimum: 1 },
      creditsAmount: { type: 'integer', minimum: 1 },
      extraCreditsAmount: { type: ['integer', 'null'], minimum: 1 },
      renewalIntervalMonths: { type: ['integer', 'null'], minimum: 1 },
    },
  },

  async list({ api }) {
    return Array.fromAsync(api.items('listCreditPackages', { query: { limit: 100 } }), (raw) => ({
      id: raw.publicId,
      name: raw.name,
      raw,
    }));
  },

  async read(listed, { api }) {
    const raw = await api.call('getCreditPackage', { path: { creditPackagePublicId: listed.id } });
    const { creditValueCents, creditsAmount, extraCreditsAmount, renewalIntervalMonths } = raw;
    return {
      kind: 'credit-package',
      name: raw.name,
      fields: withoutDefaults({ creditValueCents, creditsAmount, extraCreditsAmount, renewalIntervalMonths }),
      files: {},
    };
  },

  async create(entry, { api, idempotencyKey }) {
    const { publicId } = await api.call('createCreditPackage', { body: bodyOf(entry), idempotencyKey });
    return { id: publicId, entry };
  },

  async change(id, _before, after, { api }) {
    await api.call('updateCreditPackage', { path: { creditPackagePublicId: id }, body: bodyOf(after) });
  },

  async remove(id, { api }) {
    await api.call('deleteCreditPackage', { path: { creditPackagePublicId: id } });
  },
};

function bodyOf(entry: { name: string; fields: Record<string, unknown> }) {
  return { name: entry.name, ...(entry.fields as { creditValueCents: number; creditsAmount: number }) };
}
