/** Access to the remote toolkit registry, which speaks Composio's HTTP API, version 3. */
export interface RegistryAccess {
  apiKey: string;
  /** Its address without the version segment, such as `https://backend.composio.dev`. */
  baseUrl: string;
  /** By which the registry signs the events that it sends; absent: none are taken. */
  webhookSecret?: string;
  /** Timeout of a call in milliseconds; 10,000 when absent. */
  timeoutMs?: number;
}

/** The registries of toolkits. Without `composio` there is none, and its connections cannot be used. */
export interface ToolkitSettings {
  composio?: RegistryAccess;
}

const PUBLIC_REGISTRY = 'https://backend.composio.dev';

/**
 * Reads the settings from environment variables: `COMPOSIO_API_KEY` turns the registry on, `COMPOSIO_BASE_URL` replaces its public
 * address, `COMPOSIO_WEBHOOK_SECRET` is what it signs events with. Blank values count as absent. Throws an Error that names the variable (never its value) when the address is no
 * http(s) URL.
 */
export function toolkitSettingsFromEnv(env: Readonly<Record<string, string | undefined>>): ToolkitSettings {
  const apiKey = env.COMPOSIO_API_KEY?.trim();
  if (!apiKey) return {};
  const baseUrl = env.COMPOSIO_BASE_URL?.trim() || PUBLIC_REGISTRY;
  if (!/^https?:$/.test(URL.parse(baseUrl)?.protocol ?? '')) {
    throw new Error('COMPOSIO_BASE_URL must be an http or https address.');
  }
  const webhookSecret = env.COMPOSIO_WEBHOOK_SECRET?.trim();
  const access = { apiKey, baseUrl: baseUrl.replace(/(?<!\/)\/+$/, '') };
  return { composio: webhookSecret ? { ...access, webhookSecret } : access };
}
