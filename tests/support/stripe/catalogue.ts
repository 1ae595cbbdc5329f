import { metadataOf, type StripeState } from './state.ts';
import { part, parts, StripeRefusal, type StripeRequest, type Thing, text, texts, whole } from './wire.ts';

/** Products, prices, payment links, coupons and promotion codes. Returns undefined for another endpoint. */
export function catalogue(state: StripeState, request: StripeRequest): unknown {
  const { method, path, form, query } = request;
  const [, kind = '', id = null] = path.split('/');
  const isNew = method === 'POST' && id === null;
  const set = (thing: Thing) => {
    if (text(form.active) !== null) thing.active = form.active === 'true';
    thing.metadata = metadataOf(form, thing.metadata as Record<string, string>);
    return thing;
  };
  switch (kind) {
    case 'products': {
      if (isNew) {
        if (text(form.name) === null) throw new StripeRefusal(400, { message: 'Missing required param: name.' });
        return state.add('prod', 'product', {
          ...(text(form.id) === null ? {} : { id: text(form.id) ?? '' }),
          name: text(form.name),
          description: text(form.description),
          active: form.active !== 'false',
          metadata: metadataOf(form),
        });
      }
      if (id === null) return state.list('product', request);
      const product = state.get(id, 'product');
      if (method === 'DELETE') {
        if (state.all('price').some((price) => price.product === id))
          throw new StripeRefusal(400, { message: 'This product cannot be deleted because it has prices.' });
        state.remove(id);
        return { id, object: 'product', deleted: true };
      }
      if (method === 'POST') {
        if (text(form.name) !== null) product.name = form.name;
        if ('description' in form) product.description = text(form.description);
        set(product);
      }
      return product;
    }
    case 'prices': {
      if (isNew) {
        state.get(text(form.product), 'product');
        const key = text(form.lookup_key);
        if (key !== null && state.all('price').some((price) => price.lookup_key === key))
          throw new StripeRefusal(400, { message: `A price has the lookup key ${key}.` });
        const amount = whole(form.unit_amount) ?? 0;
        if (!Number.isInteger(amount) || amount > 99_999_999)
          throw new StripeRefusal(400, { message: 'unit_amount must be at most 99999999.' });
        const months = whole(part(form.recurring).interval_count);
        if (months !== null && months > 36)
          throw new StripeRefusal(400, { message: 'The interval is at most three years.' });
        return state.add('price', 'price', {
          product: text(form.product),
          currency: text(form.currency),
          unit_amount: amount,
          lookup_key: key,
          active: true,
          type: months === null ? 'one_time' : 'recurring',
          recurring: months === null ? null : { interval: 'month', interval_count: months },
          metadata: metadataOf(form),
        });
      }
      if (id === null) {
        const keys = texts(query.lookup_keys);
        return state.list('price', request, ({ lookup_key: key }) => keys.length === 0 || keys.includes(String(key)));
      }
      const price = state.get(id, 'price');
      if (method === 'POST') set(price);
      return price;
    }
    case 'payment_links': {
      if (isNew) {
        const line = parts(form.line_items)[0] ?? {};
        const price = state.get(text(line.price), 'price');
        checkFee(request, form.application_fee_amount ?? form.application_fee_percent);
        const link = state.add('plink', 'payment_link', {
          active: true,
          url: '',
          line_price: price.id,
          application_fee_percent: whole(form.application_fee_percent),
          application_fee_amount: whole(form.application_fee_amount),
          after_completion: part(form.after_completion),
          metadata: metadataOf(form),
        });
        link.url = `https://buy.stripe.test/${link.id}`;
        return link;
      }
      if (id === null)
        return state.list('payment_link', request, ({ active }) =>
          text(query.active) === null ? true : active === (query.active === 'true'),
        );
      const link = state.get(id, 'payment_link');
      if (method === 'POST') set(link);
      return link;
    }
    case 'coupons': {
      if (isNew) {
        const percent = whole(form.percent_off);
        if (percent !== null && (percent <= 0 || percent > 100))
          throw new StripeRefusal(400, { message: 'percent_off must be from 1 to 100.' });
        for (const product of texts(part(form.applies_to).products)) state.get(product, 'product');
        return state.add('coupon', 'coupon', {
          ...(text(form.id) === null ? {} : { id: text(form.id) ?? '' }),
          name: text(form.name),
          percent_off: percent,
          amount_off: whole(form.amount_off),
          currency: text(form.currency),
          duration: text(form.duration),
          duration_in_months: whole(form.duration_in_months),
          applies_to: { products: texts(part(form.applies_to).products) },
          valid: true,
          metadata: metadataOf(form),
        });
      }
      const coupon = state.get(id, 'coupon');
      if (method === 'DELETE') {
        state.remove(coupon.id);
        for (const code of state.all('promotion_code')) if (code.coupon === id) code.active = false;
        return { id, object: 'coupon', deleted: true };
      }
      return coupon;
    }
    case 'promotion_codes': {
      if (isNew) {
        const code = text(form.code) ?? '';
        const coupon = state.get(text(part(form.promotion).coupon), 'coupon');
        if (!/^[a-zA-Z0-9-]+$/.test(code)) throw new StripeRefusal(400, { message: 'The code has other characters.' });
        const isTaken = state
          .all('promotion_code')
          .some((each) => each.active && String(each.code).toLowerCase() === code.toLowerCase());
        if (isTaken) throw new StripeRefusal(400, { message: `An active promotion code with code ${code} exists.` });
        return state.add('promo', 'promotion_code', {
          code,
          coupon: coupon.id,
          promotion: { type: 'coupon', coupon: coupon.id },
          active: form.active !== 'false',
          max_redemptions: whole(form.max_redemptions),
          expires_at: whole(form.expires_at),
          metadata: metadataOf(form),
        });
      }
      if (id === null)
        return state.list(
          'promotion_code',
          request,
          ({ coupon, active }) =>
            (text(query.coupon) ?? coupon) === coupon &&
            (text(query.active) === null || active === (query.active === 'true')),
        );
      const code = state.get(id, 'promotion_code');
      if (method === 'POST') {
        if (form.active === 'true' && !state.find(String(code.coupon), 'coupon'))
          throw new StripeRefusal(400, { message: 'The coupon is no longer valid.' });
        set(code);
      }
      return code;
    }
    default:
      return undefined;
  }
}

/** An application fee is of connected accounts only. */
export function checkFee({ account }: StripeRequest, fee: unknown): void {
  if (fee !== undefined && account === null)
    throw new StripeRefusal(400, { message: 'Can only apply an application_fee when acting for a connected account.' });
}
