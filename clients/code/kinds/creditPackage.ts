import type { components } from '../../../generated/api.ts';
import { withoutDefaults } from '../json.ts';
import type { Entry, Kind } from '../kind.ts';
import { fileSchema } from '../schemas/requestSchemas.ts';
import { oldestFirst } from './fields.ts';

type Schemas = components['schemas'];

/** The credit packages of the hub: `hub/credit-packages.yaml`. */
export const creditPackageKind: Kind = {
  kind: 'credit-package',
  after: [],
  layout: { form: 'list', file: 'hub/credit-packages.yaml' },
  schema: fileSchema(['CreditPackageCreate'], { omit: ['name'] }),

  async list({ api }) {
    const packages = await oldestFirst(api.items('listCreditPackages', { query: { limit: 100 } }));
    return packages.map((raw) => ({ id: raw.publicId, name: raw.name, raw }));
  },

  async read({ raw }) {
    const { name, creditValueCents, creditsAmount, extraCreditsAmount, renewalIntervalMonths } =
      raw as Schemas['CreditPackageListItem'];
    const fields = withoutDefaults({ creditValueCents, creditsAmount, extraCreditsAmount, renewalIntervalMonths });
    return { kind: 'credit-package', name, fields, files: {} };
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

function bodyOf({ name, fields }: Entry): Schemas['CreditPackageCreate'] {
  return { name, ...fields } as Schemas['CreditPackageCreate'];
}
