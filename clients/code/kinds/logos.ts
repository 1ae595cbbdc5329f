import type { components } from '../../../generated/api.ts';
import { urlOf } from '../../sdk/options.ts';
import type { Content } from '../kind.ts';
import { contentOf } from './fields.ts';

/** The logos of a hub. */
export const LOGO_TYPES = ['horizontal', 'icon', 'email', 'banner'] as const;

/** One of the logos of a hub. */
export type LogoType = (typeof LOGO_TYPES)[number];

type Hub = components['schemas']['Hub'];

const FIELDS = {
  horizontal: 'logoHorizontalUrl',
  icon: 'logoIconUrl',
  email: 'logoEmailUrl',
  banner: 'loginBannerUrl',
} as const satisfies Record<LogoType, keyof Hub>;

/** Bytes of a logo that the API takes. */
const MAX_BYTES = 5 * 1024 * 1024;
const DOWNLOAD_MS = 30_000;

/** Where a logo is; null when there is none. Each upload gets an address of its own. */
export function logoUrl(hub: Hub, type: LogoType): string | null {
  return hub[FIELDS[type]];
}

/** Where `pull` puts a logo, beside hub.yaml. */
export function logoPath(type: LogoType, url: string): string {
  const extension = /\.([a-z]{3,4})$/.exec(urlOf(url)?.pathname ?? '')?.[1] ?? 'png';
  return `logos/${type}.${extension}`;
}

/** The picture at a public address of the hub. No key is sent. Throws when it cannot be had, or is larger than a logo can be. */
export async function downloadLogo(url: string): Promise<Content> {
  const response = await fetch(url, { signal: AbortSignal.timeout(DOWNLOAD_MS) });
  if (!response.ok) throw new Error(`the answer is ${response.status}`);
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body ?? []) {
    size += part.length;
    if (size > MAX_BYTES) throw new Error(`it has more than ${MAX_BYTES} bytes`);
    parts.push(part);
  }
  return contentOf(Buffer.concat(parts));
}

/** Whether bytes begin as a picture that the API takes does. The service checks the rest. */
export function isPicture(bytes: Uint8Array): boolean {
  const head = Buffer.from(bytes.subarray(0, 4096));
  const latin = head.toString('latin1');
  const isRaster =
    latin.startsWith('\x89PNG\r\n\x1a\n') || latin.startsWith('\xff\xd8\xff') || /^RIFF[\s\S]{4}WEBP/.test(latin);
  return isRaster || /^(?:\uFEFF)?\s*<(?:\?xml|!--|!DOCTYPE\s+svg|(?:[\w.-]+:)?svg[\s>])/.test(head.toString('utf8'));
}
