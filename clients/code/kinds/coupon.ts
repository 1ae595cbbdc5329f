import type { components } from '../../../generated/api.ts';
import { type JsonObject, withoutDefaults } from '../json.ts';
import type { Kind } from '../kind.ts';
import { fileSchema } from '../schemas/requestSchemas.ts';
import { changesOf, clearingRefusal, fixedRefusal, oldestFirst, textOf } from './fields.ts';

type Schemas = components['schemas'];

const FIXED = ['discountType', 'discountValue', 'duration', 'durationMonths', 'scope', 'plans', 'validFrom'];

/** The coupons of the hub: `hub/coupons/<code>.yaml`. The discount itself never changes. */
export const couponKind: Kind = {
  kind: 'coupon',
  after: ['plan'],
  layout: { form: 'file', folder: 'hub/coupons' },
  nameField: 'code',
  schema: fileSchema(['CouponCreate', 'CouponUpdate'], {
    omit: ['code', 'applicablePlanIds'],
    properties: {
      plans: {
        type: 'array',
        uniqueItems: true,
        items: { type: 'string', minLength: 1 },
        description: 'Names of the plans: required for scope `plans`, refused for scope `hub`.',
      },
    },
  }),

  async list({ api }) {
    const coupons = await oldestFirst(api.items('listCoupons', { query: { limit: 100 } }));
    return coupons.map((raw) => ({ id: raw.publicId, name: raw.code, raw }));
  },

  async read({ id, raw }, { api, names }) {
    const listed = raw as Schemas['CouponListItem'];
    const { applicablePlans } =
      listed.scope === 'plans'
        ? await api.call('getCoupon', { path: { couponPublicId: id } })
        : { applicablePlans: [] };
    const fields = fieldsOf({
      ...(listed as unknown as JsonObject),
      plans: applicablePlans.map((plan) => names.nameOf('plan', plan.publicId) ?? plan.name),
      // One that was valid at once has no beginning of its own.
      validFrom: listed.validFrom === listed.createdAt ? null : listed.validFrom,
    });
    return { kind: 'coupon', name: listed.code, fields, files: {} };
  },

  async fromFile(_name, yaml, place) {
    const times: JsonObject = {};
    for (const name of ['validFrom', 'validUntil']) {
      const text = yaml[name];
      if (typeof text !== 'string') continue;
      const instant = new Date(text);
      if (Number.isNaN(instant.getTime()))
        throw place.fault([name], `\`${name}\` must be a date and time, as in RFC 3339.`);
      times[name] = instant.toISOString();
    }
    return { fields: fieldsOf({ ...yaml, ...times }), files: {} };
  },

  references({ fields }) {
    const plans = Array.isArray(fields.plans) ? fields.plans : [];
    return plans.map((name, index) => ({ kind: 'plan', name: `${name}`, at: ['plans', index] }));
  },

  refusal(listed, before, after) {
    if (!after) return undefined;
    const { maxUses, validUntil } = after.fields;
    const hasEnded = typeof validUntil === 'string' && new Date(validUntil) <= new Date();
    if (!before) return hasEnded ? '`validUntil` is over: the service makes no coupon that has expired' : undefined;
    if (before.name !== after.name) return '`code` cannot change: make another coupon';
    const { timesUsed = 0 } = (listed?.raw ?? {}) as Partial<Schemas['CouponListItem']>;
    if (typeof maxUses === 'number' && maxUses !== before.fields.maxUses && maxUses < timesUsed)
      return `it was redeemed ${timesUsed} times, so \`maxUses\` cannot be ${maxUses}`;
    if (hasEnded && validUntil !== before.fields.validUntil) return '`validUntil` must be in the future';
    return fixedRefusal(before, after, FIXED) ?? clearingRefusal(before, after, ['maxUses', 'validUntil']);
  },

  async create(entry, { api, idempotencyKey, names }) {
    const { plans, active: _active, ...rest } = entry.fields;
    const ids = Array.isArray(plans) ? plans.map((name) => names.idOf('plan', `${name}`)) : [];
    const body = { code: entry.name, ...rest, applicablePlanIds: ids } as unknown as Schemas['CouponCreate'];
    const { publicId } = await api.call('createCoupon', { body, idempotencyKey });
    // A new coupon is active: a change makes it inactive.
    return { id: publicId, entry: { ...entry, fields: fieldsOf({ ...entry.fields, active: true }) } };
  },

  async change(id, before, after, { api }) {
    const cleared = { name: '', active: true };
    const body: Schemas['CouponUpdate'] = changesOf(
      before,
      after,
      ['name', 'active', 'maxUses', 'validUntil'],
      cleared,
    );
    if (Object.keys(body).length > 0) await api.call('updateCoupon', { path: { couponPublicId: id }, body });
  },

  async remove(id, { api }) {
    await api.call('deleteCoupon', { path: { couponPublicId: id } });
  },
};

/** The fields of a coupon, as the service or a file has them, in their canonical form. */
function fieldsOf(coupon: JsonObject): JsonObject {
  const {
    active,
    discountType,
    discountValue,
    duration,
    durationMonths,
    scope,
    plans,
    maxUses,
    validFrom,
    validUntil,
  } = coupon;
  return withoutDefaults(
    {
      name: typeof coupon.name === 'string' ? textOf(coupon.name) : undefined,
      active,
      discountType,
      discountValue,
      duration,
      durationMonths,
      scope,
      plans: Array.isArray(plans) ? [...plans].sort() : undefined,
      maxUses,
      validFrom,
      validUntil,
    },
    { active: true },
  );
}
