import type { Branding, BrandingImage, PaymentProvider } from '../provider.ts';
import type { StripeCall } from './client.ts';

/** Uploads take longer than other calls. */
const UPLOAD_MS = 30_000;

/** The brand of a connected account. An account that may not be changed by its platform is `denied`. */
export function stripeBranding(call: StripeCall, account: string | null): Pick<PaymentProvider, 'syncBranding'> {
  const upload = async (key: string, purpose: 'business_icon' | 'business_logo', image: BrandingImage | null) => {
    if (image === null) return null;
    const { data, type } = image;
    const name = `${purpose}.${type === 'image/png' ? 'png' : 'jpg'}`;
    const file = await call({ key: `${key}-${purpose}`, timeoutMs: UPLOAD_MS }, (stripe, options) =>
      stripe.files.create({ purpose, file: { data, name, type } }, options),
    );
    return file.id;
  };
  return {
    async syncBranding(key, { primaryColor, secondaryColor, icon, logo }: Branding) {
      if (account === null) return;
      const [iconId, logoId] = [await upload(key, 'business_icon', icon), await upload(key, 'business_logo', logo)];
      await call({ key: `${key}-branding` }, (stripe, options) =>
        stripe.accounts.update(
          account,
          {
            settings: {
              branding: {
                ...(iconId === null ? {} : { icon: iconId }),
                ...(logoId === null ? {} : { logo: logoId }),
                ...(primaryColor === null ? {} : { primary_color: primaryColor }),
                ...(secondaryColor === null ? {} : { secondary_color: secondaryColor }),
              },
            },
          },
          options,
        ),
      );
    },
  };
}
