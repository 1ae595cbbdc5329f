/** Where the messaging providers are reached. */
export interface ChannelSettings {
  /** Meta's Graph API with its version, without a slash at the end, such as `https://graph.facebook.com/v23.0`. */
  whatsappBaseUrl: string;
  /** Z-API, without a slash at the end, such as `https://api.z-api.io`. */
  zApiBaseUrl: string;
}

const PUBLIC_WHATSAPP = 'https://graph.facebook.com/v23.0';
const PUBLIC_Z_API = 'https://api.z-api.io';

/**
 * Reads the settings from environment variables: `GUILDHALL_WHATSAPP_BASE_URL` and `GUILDHALL_ZAPI_BASE_URL` replace the public
 * addresses. Blank values count as absent. Throws an Error that names the variable (never its value) when an address is no
 * http(s) URL.
 */
export function channelSettingsFromEnv(env: Readonly<Record<string, string | undefined>>): ChannelSettings {
  return {
    whatsappBaseUrl: address(env, 'GUILDHALL_WHATSAPP_BASE_URL', PUBLIC_WHATSAPP),
    zApiBaseUrl: address(env, 'GUILDHALL_ZAPI_BASE_URL', PUBLIC_Z_API),
  };
}

function address(env: Readonly<Record<string, string | undefined>>, name: string, fallback: string): string {
  const value = env[name]?.trim() || fallback;
  if (!/^https?:$/.test(URL.parse(value)?.protocol ?? '')) {
    throw new Error(`${name} must be an http or https address.`);
  }
  return value.replace(/(?<!\/)\/+$/, '');
}
